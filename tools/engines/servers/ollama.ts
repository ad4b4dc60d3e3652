import type { ChatMessage, Engine } from '@gaia-mesh/core/contracts/engine.ts';
import { isJsonList, isJsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { type ChatRequest, type Message, Ollama } from 'ollama';
import * as z from 'zod';
import type { EngineOptions } from '../engine-options.ts';
import { parseEngineSettings } from '../engine-settings.ts';
import { readJsonLines } from '../http/body.ts';
import { exchange } from '../http/exchange.ts';
import { explain } from '../http/fault.ts';
import { createModelEngine } from '../model-engine.ts';
import { FREE } from '../prices.ts';
import { parseArguments } from '../replies/json-reply.ts';
import { requireMember, ServerReply } from '../replies/server-reply.ts';
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

/** Maximum characters of a reply, far above any that fits a context. */
const MAX_REPLY_CHARACTERS = 1024 * 1024;
const CHECK_TIMEOUT_MS = 5_000;

// Ollama's default context is small, and a prompt that does not fit is cut silently. Replies are as repeatable as a model allows (RA-22).
const ollamaOptions = z.looseObject({
  seed: z.int().default(1),
  temperature: z.number().min(0).default(0),
  num_ctx: z.int().positive().default(8192),
});

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
    async chat({ model, messages, tools, schema, reply }, send) {
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
      // The library would read the digits of numbers as JavaScript does, so it gets the end of the reply alone.
      let read: ModelReply | undefined;
      const fetch: typeof send = async (input, init) => {
        read = await readReply(await send(input, init), messages.length);
        return new Response('{"message":{},"done":true}\n');
      };
      for await (const _end of await new Ollama({ host: url, fetch }).chat(request));
      if (read === undefined) throw new Error('the request was not sent');
      return read;
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

async function readReply(response: Response, turn: number): Promise<ModelReply> {
  const reply = new ServerReply(MAX_REPLY_CHARACTERS);
  let calls = 0;
  for await (const line of readJsonLines(response)) {
    if (isJsonObject(line) && line.done === true && !isJsonObject(line.message)) reply.addContent('');
    else requireMember(line, 'message');
    const part = isJsonObject(line) ? line : {};
    const message = isJsonObject(part.message) ? part.message : {};
    reply.addContent(message.content, 'message.content');
    reply.addThoughts(message.thinking);
    for (const call of isJsonList(message.tool_calls) ? message.tool_calls : []) {
      const { id, function: given } = isJsonObject(call) ? call : {};
      const { name, arguments: args } = isJsonObject(given) ? given : {};
      // Each is a whole call; an index of their own keeps them apart.
      reply.addCall({ index: calls, id, name, arguments: args ?? {} });
      calls += 1;
    }
    if (part.done !== true) continue;
    reply.end(part.done_reason);
    return reply.toReply(turn, {
      promptTokens: reply.readCount(part.prompt_eval_count, 'prompt_eval_count'),
      completionTokens: reply.readCount(part.eval_count, 'eval_count'),
    });
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
      onlyThoughts: 'take a model without thoughts, or one whose template Ollama knows',
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
