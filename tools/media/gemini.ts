import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import * as z from 'zod';
import type { DataToolContext } from '../data-tool.ts';
import { callService } from '../web/call-service.ts';
import { requireServiceKey } from '../web/services.ts';

const DEFAULT_MODEL = 'gemini-2.5-pro';

/** The model watches a film of an hour for minutes. */
const GEMINI_TIMEOUT_MS = 300_000;

/** Maximum bytes of a file in a request, with room for base64 (20 MB in all). */
export const MAX_INLINE_BYTES = 14 * 1024 * 1024;

/** A part of a prompt to Gemini: a video by its URL, a file's bytes in base64, or text. */
type GeminiPart =
  | { readonly file_data: { readonly file_uri: string } }
  | { readonly inline_data: { readonly mime_type: string; readonly data: string } }
  | { readonly text: string };

const replySchema = z.object({
  candidates: z
    .array(
      z.object({
        content: z
          .object({ parts: z.array(z.object({ text: z.string().default('') })).default([]) })
          .optional(),
        finishReason: z.string().optional(),
      }),
    )
    .default([]),
  promptFeedback: z.object({ blockReason: z.string().optional() }).optional(),
});

/**
 * Asks the media model, `GEMINI_MODEL` or {@link DEFAULT_MODEL}.
 *
 * @throws MeshError `tool` without a key, with what to do `instead`; also if the service fails or refuses to answer
 */
export async function askGemini(
  parts: readonly GeminiPart[],
  context: DataToolContext,
  instead: string,
): Promise<string> {
  const key = requireServiceKey('gemini', context.environment, instead);
  const model = context.environment.GEMINI_MODEL || DEFAULT_MODEL;
  const reply = await callService(
    {
      service: 'gemini',
      path: `/v1beta/models/${encodeURIComponent(model)}:generateContent`,
      headers: { 'x-goog-api-key': key },
      json: { contents: [{ role: 'user', parts }], generationConfig: { temperature: 0 } },
      timeoutMs: GEMINI_TIMEOUT_MS,
    },
    context,
  );
  const { candidates, promptFeedback } = reply.parse(replySchema);
  const answer =
    candidates[0]?.content?.parts
      .map((part) => part.text)
      .join('')
      .trim() ?? '';
  if (answer !== '') return answer;
  const why = promptFeedback?.blockReason ?? candidates[0]?.finishReason ?? 'no reason given';
  throw new MeshError('tool', `gemini gave no answer (${why}): ask in other words, or ${instead}`);
}
