import * as z from 'zod';
import type { Engine } from '../../core/engine.ts';
import { MeshError, messageOf } from '../../core/errors.ts';
import { issuesOf } from '../../core/packet.ts';
import { type ChatReply, chat, ollamaUrl } from './ollama-client.ts';
import { renderPrompt } from './prompt.ts';
import type { EngineOptions } from './registry.ts';

export { checkOllama } from './ollama-client.ts';

const DEFAULT_MODEL = 'gemma-7b-it';
const DEFAULT_TIMEOUT_MS = 120_000;

/** A reply that cannot be used is sent back with the fault, once: a model that fails twice fails a third time. */
const MAX_REPLIES = 2;

// As repeatable as a model can be. Ollama's own context is small, and a prompt that does not fit is cut silently.
const modelOptions = z.looseObject({
  seed: z.int().default(1),
  temperature: z.number().min(0).default(0),
  num_ctx: z.int().positive().default(8192),
});

/**
 * Asks a model on an Ollama server. The reply's schema goes with the request, so the server holds the model to it; the
 * tokens are the server's own figures, of every reply that a step took. A reply that broke off has no figures.
 *
 * @throws MeshError `usage` for options that no server could take
 */
export function ollamaEngine(engineOptions: EngineOptions): Engine {
  const { model = DEFAULT_MODEL, timeoutMs = DEFAULT_TIMEOUT_MS, prompts } = engineOptions;
  const url = ollamaUrl(engineOptions.host);
  const parsed = modelOptions.safeParse(engineOptions.options ?? {});
  if (!parsed.success) {
    throw new MeshError('usage', `options of the Ollama engine: ${issuesOf(parsed.error)}`);
  }
  const options = parsed.data;

  return {
    name: 'ollama',
    tokenSource: 'model',
    async perform(step, { signal, countTokens }) {
      const { prompt, variables, reply: schema, result } = step.model;
      const messages = renderPrompt(prompt, prompts(prompt), variables());
      // Older servers ignore `truncate` and `shift`; newer ones then refuse a prompt that does not fit.
      const request = {
        model,
        messages,
        format: z.toJSONSchema(schema),
        options,
        truncate: false,
        shift: false,
      };
      for (let replies = 1; ; replies++) {
        const reply = await chat(url, request, { signal, timeoutMs });
        countTokens(reply.tokens);
        const read = readJson(reply, schema);
        if (read.fault === undefined) return result(read.value);
        if (reply.doneReason === 'length') {
          throw new MeshError(
            'engine',
            `the reply of ${model} at ${url} to ${prompt} was cut off: raise options.num_predict or options.num_ctx (now ${options.num_ctx})`,
          );
        }
        if (replies === MAX_REPLIES) {
          throw new MeshError(
            'engine',
            `${model} at ${url} gave no usable reply to ${prompt} in ${replies} attempts (${read.fault}): take another model`,
          );
        }
        messages.push(
          { role: 'assistant', content: reply.content },
          {
            role: 'user',
            content: `That reply cannot be used: ${read.fault}. Reply again, with the JSON only.`,
          },
        );
      }
    },
  };
}

type ReadReply = { readonly fault: string } | { readonly fault?: undefined; readonly value: unknown };

function readJson({ content }: ChatReply, schema: z.ZodType): ReadReply {
  let json: unknown;
  try {
    // An escape can hold half a character, which no packet can.
    json = JSON.parse(content, (_, value: unknown) =>
      typeof value === 'string' ? value.toWellFormed() : value,
    );
  } catch (error) {
    return { fault: `it is not JSON: ${messageOf(error)}` };
  }
  const parsed = schema.safeParse(json);
  return parsed.success
    ? { value: parsed.data }
    : { fault: `it does not fit the schema: ${issuesOf(parsed.error)}` };
}
