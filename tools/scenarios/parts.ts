import type * as z from 'zod';
import { MeshError } from '../../core/contracts/errors.ts';
import { FINAL_ANSWER, issuesOf, type JsonObject, type Packet } from '../../core/contracts/packet.ts';
import type { Emission } from '../../core/contracts/tool.ts';
import { documentPayload } from '../pipeline/payloads.ts';

/** The parts that agents play in scenarios after published benchmarks: they follow rules, so that a run says the same each time. */

/** `value` as `schema` says, of a packet or of the team file. */
export function parsed<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const result = schema.safeParse(value);
  if (!result.success) throw new MeshError('packet', `${what}: ${issuesOf(result.error)}`);
  return result.data;
}

/** A task's question, and its document in one piece. */
export function documentOf({ payload, from }: Packet): { readonly question: string; readonly text: string } {
  const { question, chunks } = parsed(documentPayload, payload, `the document from ${from}`);
  return { question, text: chunks.join('') };
}

export function sentencesOf(text: string): string[] {
  return text
    .split(/(?<=[.!?])\s+/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '');
}

/** Words that say something: of four letters or more. */
export function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) ?? []);
}

/** The packet that ends the task. */
export function finalAnswer(answer: string, more: JsonObject = {}): Emission {
  return { type: 'data_event', tag: FINAL_ANSWER, payload: { ...more, answer } };
}

/** How many words of one are in the other, too. */
export function sharedCount(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let count = 0;
  for (const word of one) if (other.has(word)) count += 1;
  return count;
}
