import type * as z from 'zod';
import { MeshError } from '../../core/contracts/errors.ts';
import { issuesOf } from '../../core/contracts/packet.ts';
import { jsonIn } from '../../core/system/json-line.ts';

/**
 * A reply's JSON, checked.
 *
 * @throws MeshError `tool`, naming what does not fit
 */
export function parseReply<Result>(schema: z.ZodType<Result>, text: string, service: string): Result {
  const result = schema.safeParse(jsonIn(text));
  if (result.success) return result.data;
  throw new MeshError(
    'tool',
    `${service} replied something else than its documentation says: ${issuesOf(result.error)}`,
  );
}
