import * as z from 'zod';
import type { JsonObject, JsonValue } from '../core/packet.ts';

/** A text as every back end can hold it: Postgres refuses NUL, and UTF-8 has no lone surrogates. Both become U+FFFD. */
export function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd');
}

/** A text of at most `maxLength` characters, made {@link storable}. */
export function storableText(maxLength: number) {
  return z.string().max(maxLength).transform(storable);
}

/** A text that names something. */
export const storableName = (maxLength: number) => storableText(maxLength).pipe(z.string().min(1));

/** A value whose JSON has at most `maxLength` characters. JSON escapes what texts cannot hold, so it is kept as it is. */
export function storableJson<T extends JsonValue>(
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

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isJsonList(value: unknown): value is readonly JsonValue[] {
  return Array.isArray(value);
}
