import type { JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';

/** Bounds of what is kept. Beyond a length a record is refused: what is kept is verbatim. Ids are as long as the longest key of a packet's head. */
export const MAX_ID_CHARACTERS = 256;

/** Names of teams, models and types of questions: they are keys of tables in reports. */
export const MAX_NAME_CHARACTERS = 128;

/** A question, an answer, a brief, a diagnosis. Ten times what a model's context takes in. */
export const MAX_TEXT_CHARACTERS = 4 * 1024 * 1024;

/** One JSON column of an attempt, as text. A trace is collected from packets, and a frame holds 64 MiB. */
export const MAX_JSON_CHARACTERS = 16 * 1024 * 1024;

/** Each text of a gap record: it is a pattern of some sentences, and several of them go into one brief. */
export const MAX_GAP_TEXT_CHARACTERS = 4_000;

/** A text as every back end can hold it: Postgres refuses NUL, and UTF-8 has no lone surrogates. Both become U+FFFD. */
export function toStorable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

/** A text of at most `maxLength` characters, made {@link toStorable}. */
export function createTextSchema(maxLength: number) {
  return z.string().max(maxLength).transform(toStorable);
}

/** A text that names something. */
export const createNameSchema = (maxLength: number) => createTextSchema(maxLength).pipe(z.string().min(1));

/** A value whose JSON has at most `maxLength` characters. JSON escapes what texts cannot hold, so it is kept as it is. */
export function createJsonSchema<T extends JsonValue>(
  maxLength: number,
  isShape: (value: unknown) => value is T,
  expected: string,
) {
  return z.custom<T>(isShape, `must be ${expected}`).superRefine((value, context) => {
    const length = JSON.stringify(value).length;
    if (length > maxLength) {
      context.addIssue({
        code: 'custom',
        message: `is ${length} characters of JSON, more than ${maxLength}`,
      });
    }
  });
}
