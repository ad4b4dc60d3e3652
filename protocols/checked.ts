import type * as z from 'zod';
import { issuesOf } from '../core/packet.ts';
import { notAPacket } from './head.ts';

/**
 * The value as the schema of a protocol's message gives it.
 *
 * @throws MeshError `packet`, naming the key and what is wrong with it
 */
export function checked<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (!result.success) throw notAPacket(issuesOf(result.error));
  return result.data;
}
