import type { ChatMessage, Engine } from '@gaia-mesh/core/contracts/engine.ts';
import { type ChatRequest, type Message, Ollama } from 'ollama';
import * as z from 'zod';
import type { EngineOptions } from '../engine-options.ts';
import { parseEngineSettings } from '../engine-settings.ts';
import { readLines } from '../http/body.ts';
import { exchange } from '../http/exchange.ts';
import { explain } from '../http/fault.ts';
import { createModelEngine } from '../model-engine.ts';
import { FREE } from '../prices.ts';
import { buildToolCalls, parseArguments } from '../replies/json-reply.ts';
import { resolveModelEndpoints } from '../requests/model-endpoint.ts';
import type { ModelClient, ModelReply, ModelServer } from './model-client.ts';
import { resolveOllamaUrl, SERVER_KINDS } from './server-url.ts';

/**
 * Creates the engine for a model on an Ollama server, which enforces the reply's schema itself.
 *
 * @throws MeshError `usage` for options that no server could take
 */
export function createOllamaEngine(options: EngineOptions): Engine {
  const { environment = process.env } = options;
  const given = options.options ?? {};
  // The server gets the same context size that the window counts on.
  const context = typeof given.context === 'number' ? { num_ctx: given.context } : {};
  const { settings, model } = parseEngineSettings('Ollama', { ...context, ...given }, ollamaOptions);
  const endpoints = resolveModelEndpoints(options, settings, {
    defaultModel: SERVER_KINDS.ollama.defaultModel,
    createClient: (host) => createOllamaClient(resolveOllamaUrl(host, environment), model),
    presetPrice: () => FREE,
    context: model.num_ctx,
  });
  return createModelEngine('ollama', endpoints, options, settings);
}

// Maximum characters of a reply, far above any that fits a context: a server that never stops must not fill the memory.
const MAX_REPLY_CHARACTERS = 1024 * 1024;
const CHECK_TIMEOUT_MS = 5_000;

// Ollama's default context is small, and a prompt that does not fit is cut silently. Replies are as repeatable as a model allows (RA-22).
const ollamaOptions = z.looseObject({
  seed: z.int().default(1),
  temperature: z.number().min(0).default(0),
  num_ctx: z.int().positive().default(8192),
});

const replyPart = z.object({
  message: z
    .object({
      content: z.string().default(''),
      thinking: z.string().default(''),
      tool_calls: z
        .array(
          z.object({
            id: z.string().optional(),
            function: z.object({ name: z.string(), arguments: z.unknown().optional() }),
          }),
        )
        .default([]),
    })
    .optional(),
  done: z.boolean().default(false),
  done_reason: z.string().default('stop'),
  prompt_eval_count: z.int().nonnegative().nullable().default(null),
  eval_count: z.int().nonnegative().nullable().default(null),
});
type ReplyPart = z.infer<typeof replyPart>;

/** A request with the fields that the library's type does not know. */
type SentRequest = ChatRequest & {
  readonly stream: true;
  readonly truncate: false;
  readonly shift: false;
};

/** Creates a client for `/api/chat`, streamed, so that the server stops as soon as the client leaves. */
function createOllamaClient(url: string, options: z.infer<typeof ollamaOptions>): ModelClient {
  return {
    server: describeOllamaServer(url, options.num_ctx),
    readBody: readLines,
    async chat({ model, messages, tools, schema, reply }, fetch) {
      // Older servers ignore `truncate` and `shift`; newer ones then refuse a prompt that does not fit.
      const request: SentRequest = {
        model,
        messages: messages.map(toOllamaMessage),
        options,
        truncate: false,
        shift: false,
        stream: true,
      };
      if (tools.length > 0) request.tools = tools.map((tool) => ({ type: 'function', function: tool }));
      if (schema !== undefined && reply !== 'text') request.format = reply === 'schema' ? schema : 'json';
      return readReply(await new Ollama({ host: url, fetch }).chat(request), messages.length);
    },
  };
}

/**
 * Returns a server's version and models.
 *
 * @throws MeshError `engine` if there is none, with how to start it
 */
export async function checkOllama(host?: string): Promise<{ version: string; models: string[] }> {
  const url = resolveOllamaUrl(host, process.env);
  const server = describeOllamaServer(url, ollamaOptions.parse({}).num_ctx);
  const limits = { signal: new AbortController().signal, timeoutMs: CHECK_TIMEOUT_MS };
  const found = await exchange(server, limits, async (fetch) => {
    const client = new Ollama({ host: url, fetch });
    const { version } = z.object({ version: z.string() }).parse(await client.version());
    const { models } = z
      .object({ models: z.array(z.object({ name: z.string() })) })
      .parse(await client.list());
    return { version, models: models.map(({ name }) => name) };
  });
  if (found.fault !== undefined) throw explain(found.fault, server, undefined, 1);
  return found.value;
}

async function readReply(parts: AsyncIterable<unknown>, turn: number): Promise<ModelReply> {
  let content = '';
  let thoughts = '';
  const calls: NonNullable<ReplyPart['message']>['tool_calls'] = [];
  for await (const received of parts) {
    const part = replyPart.parse(received);
    content += part.message?.content ?? '';
    thoughts += part.message?.thinking ?? '';
    calls.push(...(part.message?.tool_calls ?? []));
    if (content.length + thoughts.length > MAX_REPLY_CHARACTERS)
      throw new Error(`more than ${MAX_REPLY_CHARACTERS} characters`);
    if (!part.done) continue;
    const toolCalls = buildToolCalls(
      calls.map(({ id, function: { name, arguments: given } }) => ({ id, name, arguments: given })),
      turn,
    );
    return {
      content,
      thoughts,
      toolCalls,
      finish: part.done_reason === 'length' ? 'length' : toolCalls.length > 0 ? 'tool_calls' : 'stop',
      promptTokens: part.prompt_eval_count,
      completionTokens: part.eval_count,
    };
  }
  throw new Error('the reply ended before it was complete');
}

function toOllamaMessage(message: ChatMessage): Message {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.content };
    case 'user': {
      const { content, images = [] } = message;
      if (images.length === 0) return { role: 'user', content };
      return { role: 'user', content, images: images.map(({ base64 }) => base64) };
    }
    case 'assistant': {
      const { content, toolCalls = [] } = message;
      if (toolCalls.length === 0) return { role: 'assistant', content };
      const calls = toolCalls.map((call) => ({
        id: call.id,
        function: { name: call.name, arguments: parseArguments(call) },
      }));
      return { role: 'assistant', content, tool_calls: calls };
    }
    case 'tool': {
      const { name, content, toolCallId } = message;
      const told = { role: 'tool', tool_name: name, tool_call_id: toolCallId, content };
      return told;
    }
  }
}

/** @param contextTokens the context size in requests, if it is set */
export function describeOllamaServer(url: string, contextTokens: number | undefined): ModelServer {
  return {
    url,
    name: 'Ollama server',
    maker: 'Ollama',
    key: undefined,
    // Its 500 and 502 are failures of the model, which repeat themselves with a fixed seed and no temperature.
    isTransient: (status) => status === 429 || status === 503,
    advice: {
      start:
        'start it with `ollama serve` (install: https://ollama.com), or run without a model: --engine extractive',
      busy: ', or start it with a larger OLLAMA_MAX_QUEUE',
      key: 'it is set where the server runs',
      longPrompt: 'give it a larger context: --context, or options.num_ctx',
      cutReply: `raise options.num_predict or options.num_ctx (--context${contextTokens === undefined ? '' : `, now ${contextTokens}`})`,
      missingModel: (model) => `get it with \`${pullCommand(model)}\``,
    },
  };
}

/** Returns the command that gets a model: Ollama's library has Gemma under another name than its makers. */
function pullCommand(model: string): string {
  return model === 'gemma-7b-it'
    ? 'ollama pull gemma:7b-instruct && ollama cp gemma:7b-instruct gemma-7b-it'
    : `ollama pull ${model}`;
}
