import { KEPT_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { formatIssues } from '@gaia-mesh/core/contracts/packet.ts';
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

/** @throws MeshError with the fault `invalidRequest` */
export function readRequest(value: unknown): McpRequest {
  const { success, data, error } = requestSchema.safeParse(value);
  if (!success) throw createMcpError('invalidRequest', `not a JSON-RPC request: ${formatIssues(error)}`);
  return data;
}
