import type * as z from 'zod';
import { MeshError, toErrorMessage } from '../contracts/errors.ts';
import { MAX_MESSAGE_DEPTH } from '../contracts/limits.ts';
import { formatIssues } from '../contracts/packet.ts';
import { parseForeignJson } from './parse-json.ts';

/**
 * Parses and validates a line of a JSONL file.
 *
 * @param where file and line, for the message
 * @throws MeshError `config` when it is not JSON, or does not match `schema`
 */
export function parseJsonLine<T>(line: string, schema: z.ZodType<T>, where: string): T {
  let value: unknown;
  try {
    value = parseForeignJson(line, { maxDepth: MAX_MESSAGE_DEPTH });
  } catch (error) {
    throw new MeshError('config', `${where}: not JSON: ${toErrorMessage(error)}`, { cause: error });
  }
  const result = schema.safeParse(value);
  if (!result.success) throw new MeshError('config', `${where}: ${formatIssues(result.error)}`);
  return result.data;
}

/**
 * Parses a JSON text; returns undefined if it is invalid or nested too deep: the last line of a log may be cut, and services may
 * reply with web pages.
 */
export function tryParseJson(line: string): unknown {
  try {
    return parseForeignJson(line, { maxDepth: MAX_MESSAGE_DEPTH });
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
