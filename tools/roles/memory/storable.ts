import type { JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';

/** Maximum length of ids, that of the longest key in a packet's head. Longer records are refused rather than cut, because they are kept verbatim. */
export const MAX_ID_CHARACTERS = 256;

/** Maximum length of the names of teams, models and question types, which are keys in reports. */
export const MAX_NAME_CHARACTERS = 128;

/** Maximum length of a question, an answer, a brief or a diagnosis, ten times what a model's context holds. */
export const MAX_TEXT_CHARACTERS = 4 * 1024 * 1024;

/** Maximum length of one JSON column of an attempt, as text. A trace is collected from packets, and a frame holds 64 MiB. */
export const MAX_JSON_CHARACTERS = 16 * 1024 * 1024;

/** Maximum length of each text of a gap record: it is a pattern of a few sentences, and a brief holds several of them. */
export const MAX_GAP_TEXT_CHARACTERS = 4_000;

/** Returns a text that every back end can store: Postgres refuses NUL, and UTF-8 has no lone surrogates. Both become U+FFFD. */
export function toStorable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

/** Creates the schema of a text of at most `maxLength` characters, made {@link toStorable}. */
export function createTextSchema(maxLength: number) {
  return z.string().max(maxLength).transform(toStorable);
}

/** Creates the schema of a name, which is not empty. */
export const createNameSchema = (maxLength: number) => createTextSchema(maxLength).pipe(z.string().min(1));

/** Creates the schema of a value whose JSON has at most `maxLength` characters. JSON escapes what texts cannot hold, so it is kept as it is. */
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
