import { toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { KEPT_LIMITS, MAX_MESSAGE_DEPTH } from '@gaia-mesh/core/contracts/limits.ts';
import { formatIssues } from '@gaia-mesh/core/contracts/packet.ts';
import { parseForeignJson } from '@gaia-mesh/core/system/parse-json.ts';
import * as z from 'zod';
import { createMcpError } from './errors.ts';

const requestSchema = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string().max(KEPT_LIMITS.idCharacters), z.number()]).optional(),
  method: z.string(),
  params: z.looseObject({}).optional(),
});

/** A parsed request. Without an id it is a notification. */
export type McpRequest = z.infer<typeof requestSchema>;

/**
 * Parses a message of a client and keeps every number exact, so that ids return in answers unchanged.
 *
 * @param maxBytes maximum memory that it may take
 * @throws MeshError with the fault `parseError` or `invalidRequest`; `limit` beyond `maxBytes`
 */
export function readRequest(text: string, maxBytes?: number): McpRequest {
  const { success, data, error } = requestSchema.safeParse(parseMessage(text, maxBytes));
  if (!success) throw createMcpError('invalidRequest', `not a JSON-RPC request: ${formatIssues(error)}`);
  return data;
}

function parseMessage(text: string, maxBytes: number | undefined): unknown {
  try {
    return parseForeignJson(text, { maxDepth: MAX_MESSAGE_DEPTH, maxBytes, isExact: true });
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw createMcpError('parseError', `the message is not JSON: ${toErrorMessage(error)}`);
  }
}
