import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues } from '@gaia-mesh/core/contracts/packet.ts';
import { tryParseJson } from '@gaia-mesh/core/system/json-line.ts';
import type * as z from 'zod';

/**
 * Parses and checks a reply's JSON.
 *
 * @throws MeshError `tool`, naming the fields that are wrong
 */
export function parseReply<Result>(schema: z.ZodType<Result>, text: string, service: string): Result {
  const result = schema.safeParse(tryParseJson(text));
  if (result.success) return result.data;
  throw new MeshError('tool', `${service} sent an undocumented reply: ${formatIssues(result.error)}`);
}
