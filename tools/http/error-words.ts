import { parseForeignJson } from '@gaia-mesh/core/system/parse-json.ts';
import * as z from 'zod';

const reasonSchema = z.object({
  message: z.string(),
  type: z.string().nullish(),
  code: z.unknown().optional(),
});
const fieldSchema = z.object({
  loc: z.array(z.union([z.string(), z.number()])).default([]),
  msg: z.string(),
});

const toWords = (message: string) => ({ message, code: undefined });

/**
 * The forms of errors of model servers and services. The `detail` of FastAPI may be a text, an object, or a list of fields with their
 * faults.
 */
const errorSchema = z.union([
  z.object({ error: z.string() }).transform(({ error }) => toWords(error)),
  z.object({ error: reasonSchema }).transform(({ error: { message, type, code } }) => ({
    message,
    code: typeof code === 'string' || typeof code === 'number' ? String(code) : (type ?? undefined),
  })),
  z.object({ error: z.object({ info: z.string() }) }).transform(({ error }) => toWords(error.info)),
  reasonSchema.transform(({ message }) => toWords(message)),
  z.object({ detail: z.string() }).transform(({ detail }) => toWords(detail)),
  z.object({ detail: z.object({ error: z.string() }) }).transform(({ detail }) => toWords(detail.error)),
  z
    .object({ detail: z.array(fieldSchema) })
    .transform(({ detail }) => toWords(detail.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; '))),
]);

/** Reads message and code from the body of a refusal, in the form of any server; returns undefined for other bodies. */
export function readErrorWords(
  body: string,
): { readonly message: string; readonly code: string | undefined } | undefined {
  try {
    const said = parseForeignJson(body);
    // Gemini puts an error into a list.
    return errorSchema.safeParse(Array.isArray(said) ? said[0] : said).data;
  } catch (error) {
    // The body is a proxy's page, or empty.
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}
