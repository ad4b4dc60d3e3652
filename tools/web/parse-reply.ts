import type * as z from 'zod';
import { MeshError } from '../../core/contracts/errors.ts';
import { issuesOf } from '../../core/contracts/packet.ts';

/**
 * A reply's JSON, checked.
 *
 * @throws MeshError `tool`, naming what does not fit
 */
export function parseReply<Result>(schema: z.ZodType<Result>, text: string, service: string): Result {
  const result = schema.safeParse(parsedJson(text));
  if (result.success) return result.data;
  throw new MeshError(
    'tool',
    `${service} replied something else than its documentation says: ${issuesOf(result.error)}`,
  );
}

/** The value of a JSON text, undefined where it is none. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
