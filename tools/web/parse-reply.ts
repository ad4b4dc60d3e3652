import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues } from '@gaia-mesh/core/contracts/packet.ts';
import { tryParseJson } from '@gaia-mesh/core/system/json-line.ts';
import type * as z from 'zod';

/**
 * A reply's JSON, checked.
 *
 * @throws MeshError `tool`, naming what does not fit
 */
export function parseReply<Result>(schema: z.ZodType<Result>, text: string, service: string): Result {
  const result = schema.safeParse(tryParseJson(text));
  if (result.success) return result.data;
  throw new MeshError(
    'tool',
    `${service} replied something else than its documentation says: ${formatIssues(result.error)}`,
  );
}
