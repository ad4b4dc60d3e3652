import Anthropic from '@anthropic-ai/sdk';
import type { ContentBlockParam } from '@anthropic-ai/sdk/resources/messages';
import type { ChatMessage, Engine } from '@gaia-mesh/core/contracts/engine.ts';
import { formatForeignJson } from '@gaia-mesh/core/system/parse-json.ts';
import * as z from 'zod';
import type { EngineOptions } from '../engine-options.ts';
import { parseEngineSettings } from '../engine-settings.ts';
import { createModelEngine } from '../model-engine.ts';
import { findPresetPrice } from '../prices.ts';
import { parseArguments } from '../replies/json-reply.ts';
import { withSchema } from '../requests/in-words.ts';
import { resolveModelEndpoints } from '../requests/model-endpoint.ts';
import { readMessage } from './anthropic-stream.ts';
import type { ModelClient, ModelQuery, ModelReply, ModelServer } from './model-client.ts';
import { NO_KEY, requireKey } from './server-key.ts';
import { findAnthropicKey, resolveAnthropicUrl, SERVER_KINDS } from './server-url.ts';

/**
 * Asks a model by Anthropic's Messages API.
 *
 * @throws MeshError `usage` for options that no server could take
 */
export function createAnthropicEngine(options: EngineOptions): Engine {
  const { environment = process.env } = options;
  const { settings, model } = parseEngineSettings(
    'Anthropic',
    options.options ?? {},
    anthropicOptions,
    ANTHROPIC_RESERVED,
  );
  const endpoints = resolveModelEndpoints(options, settings, {
    defaultModel: SERVER_KINDS.anthropic.defaultModel,
    createClient: (host) => {
      const url = resolveAnthropicUrl(host, environment);
      return createAnthropicClient(url, findAnthropicKey(url, environment), model);
    },
    presetPrice: findPresetPrice,
  });
  return createModelEngine('anthropic', endpoints, options, settings);
}

/** Options of the model; null leaves out what newer models do not take. */
const anthropicOptions = z
  .object({
    temperature: z.number().min(0).max(1).nullable().default(0),
    // The server requires a bound; this one is the output limit of the smallest models that are still served.
    max_tokens: z.int().positive().default(8192),
  })
  .catchall(z.json());
type AnthropicOptions = z.infer<typeof anthropicOptions>;

/** Parts of the request that the engine writes. */
const ANTHROPIC_RESERVED = ['model', 'messages', 'system', 'tools', 'tool_choice', 'stream'];

export const API_VERSION = '2023-06-01';

/** The tool whose arguments are a structured reply: the API has no other way that all models support. */
const REPLY_TOOL = 'reply';

/** Creates a client for `/v1/messages` of Anthropic or of compatible servers. */
function createAnthropicClient(url: string, key: string | undefined, options: AnthropicOptions): ModelClient {
  return {
    server: describeAnthropicServer(url, key),
    async chat(query, send) {
      requireKey(url, 'ANTHROPIC_API_KEY', key);
      const client = new Anthropic({
        baseURL: url,
        apiKey: key ?? NO_KEY,
        // The header and the version for which this format was written, and which compatible servers know; the library
        // sends newer ones.
        defaultHeaders: { Authorization: null, 'X-Api-Key': key ?? NO_KEY, 'Anthropic-Version': API_VERSION },
        // Retries, time limits and messages are handled elsewhere.
        maxRetries: 0,
        timeout: 2 ** 31 - 1,
        logLevel: 'off',
        openTelemetry: false,
        fetch: (input, init) => send(input, init),
      });
      // `messages.create` would print warnings about old models.
      const response = await client.post('/v1/messages', { body: buildBody(query, options) }).asResponse();
      return unwrapReply(await readMessage(response, query.messages.length), query);
    },
  };
}

/** Builds a streamed request, so that silence can be told from work; the body's reader assembles the events. */
function buildBody({ model, messages, tools, schema, reply, omits }: ModelQuery, options: AnthropicOptions) {
  const { temperature, ...rest } = options;
  const isForced = schema !== undefined && reply === 'schema' && !omits.includes('tool_choice');
  const isOffered = schema !== undefined && reply === 'schema';
  const told = isOffered && !isForced ? withSchema(messages, schema) : messages;
  const system = told.flatMap((message) => (message.role === 'system' ? [message.content] : [])).join('\n\n');
  const offered = tools.map(({ name, description, parameters }) => ({
    name,
    description,
    input_schema: parameters,
  }));
  // A conversation with tools is sent again with each turn, so what was sent before is read from the cache.
  const isCached = offered.length > 0 && !omits.includes('cache_control');
  const turns = groupTurns(told);
  return {
    ...rest,
    model,
    messages: isCached ? withCachedEnd(turns) : turns,
    system: system === '' ? undefined : isCached ? [{ type: 'text', text: system, ...CACHED }] : system,
    temperature: temperature === null || omits.includes('temperature') ? undefined : temperature,
    tools: isOffered
      ? [{ name: REPLY_TOOL, description: 'Takes the whole reply.', input_schema: schema }]
      : offered.length === 0
        ? undefined
        : offered,
    tool_choice: isOffered ? chooseReplyTool(isForced) : undefined,
    stream: omits.includes('stream') ? undefined : true,
  };
}

function chooseReplyTool(isForced: boolean) {
  return isForced ? { type: 'tool', name: REPLY_TOOL } : { type: 'auto' };
}

/** Marks this block and everything before it to be cached for five minutes. The order is tools, system, messages. */
const CACHED = { cache_control: { type: 'ephemeral' as const } };

function withCachedEnd(turns: readonly Turn[]): Turn[] {
  return turns.map(({ role, content }, turn) => ({
    role,
    content: content.map((block, index) => {
      const isLast = turn === turns.length - 1 && index === content.length - 1;
      // Thoughts must not be marked, and none are sent.
      return isLast && block.type !== 'thinking' && block.type !== 'redacted_thinking'
        ? { ...block, ...CACHED }
        : block;
    }),
  }));
}

interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: ContentBlockParam[];
}

/** Groups messages into turns of user and assistant: consecutive messages of one side are one turn, tool results are the user's. */
function groupTurns(messages: readonly ChatMessage[]): Turn[] {
  const turns: Turn[] = [];
  for (const message of messages) {
    if (message.role === 'system') continue;
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const blocks = toBlocks(message);
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    // Empty turns are refused, so they are left out.
    else if (blocks.length > 0) turns.push({ role, content: blocks });
  }
  return turns;
}

function toBlocks(message: Exclude<ChatMessage, { role: 'system' }>): ContentBlockParam[] {
  const text: ContentBlockParam[] =
    message.content.trim() === '' ? [] : [{ type: 'text', text: message.content }];
  switch (message.role) {
    case 'user': {
      const images = message.images?.map(
        ({ mediaType, base64 }): ContentBlockParam => ({
          type: 'image',
          source: { type: 'base64', media_type: mediaType, data: base64 },
        }),
      );
      return [...(images ?? []), ...text];
    }
    case 'assistant': {
      const calls = message.toolCalls?.map(
        (call): ContentBlockParam => ({
          type: 'tool_use',
          id: call.id,
          name: call.name,
          input: parseArguments(call),
        }),
      );
      return [...text, ...(calls ?? [])];
    }
    case 'tool':
      return [{ type: 'tool_result', tool_use_id: message.toolCallId, content: message.content }];
  }
}

/** Returns a structured reply, which comes as the input of a tool, as the text that it is. */
function unwrapReply(reply: ModelReply, { schema }: ModelQuery): ModelReply {
  if (schema === undefined) return reply;
  const structured = reply.toolCalls.find(({ name }) => name === REPLY_TOOL)?.arguments;
  const finish = reply.finish === 'tool_calls' ? 'stop' : reply.finish;
  if (structured === undefined) return { ...reply, toolCalls: [], finish };
  const content = typeof structured === 'string' ? structured : formatForeignJson(structured);
  return { ...reply, content, toolCalls: [], finish };
}

export function describeAnthropicServer(url: string, key: string | undefined): ModelServer {
  return {
    url,
    name: 'Anthropic server',
    maker: 'Anthropic',
    key,
    isTransient: (status) => status === 429 || status >= 500,
    advice: {
      start: 'say where it is with --base-url, or run without a model: --engine extractive',
      busy: '',
      key: 'check ANTHROPIC_API_KEY',
      longPrompt: 'take a model with a larger context',
      onlyThoughts: 'leave out options.thinking, or raise options.max_tokens',
      cutReply: 'raise options.max_tokens',
      missingModel: () => 'name one that it has with --model, such as claude-haiku-4-5',
    },
  };
}
