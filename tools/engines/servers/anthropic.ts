import Anthropic from '@anthropic-ai/sdk';
import type { ContentBlockParam, MessageParam } from '@anthropic-ai/sdk/resources/messages';
import * as z from 'zod';
import type { ChatMessage, Engine } from '../../../core/contracts/engine.ts';
import { engineSettings } from '../engine-settings.ts';
import { readWhole } from '../http/body.ts';
import { modelEngine, modelPlaces } from '../model-engine.ts';
import { presetPrice } from '../prices.ts';
import type { EngineOptions } from '../registry.ts';
import { argumentsObject, toolCallsOf } from '../replies/json-reply.ts';
import { relaxing } from '../replies/relaxing.ts';
import { withSchema } from '../replies/structured.ts';
import type { ModelClient, ModelQuery, ModelReply, ModelServer } from './model-client.ts';
import { NO_KEY, requireKey } from './server-key.ts';
import { anthropicKey, anthropicUrl } from './server-url.ts';

/**
 * Asks a model by Anthropic's Messages API.
 *
 * @throws MeshError `usage` for options that no server could take
 */
export function anthropicEngine(options: EngineOptions): Engine {
  const { environment = process.env } = options;
  const { settings, model } = engineSettings(
    'Anthropic',
    options.options ?? {},
    anthropicOptions,
    ANTHROPIC_RESERVED,
  );
  const places = modelPlaces(options, settings, {
    defaultModel: 'claude-sonnet-4-6',
    clientAt: (host) => {
      const url = anthropicUrl(host, environment);
      return anthropicClient(url, anthropicKey(url, environment), model);
    },
    presetPrice,
  });
  return modelEngine('anthropic', places, options, settings);
}

/** Options of the model; null leaves out what newer models do not take. */
const anthropicOptions = z
  .object({
    temperature: z.number().min(0).max(1).nullable().default(0),
    // The server insists on a bound; this one is what the smallest models that are still served can write.
    max_tokens: z.int().positive().default(8192),
  })
  .catchall(z.json());
type AnthropicOptions = z.infer<typeof anthropicOptions>;

/** Parts of the request that the engine writes. */
const ANTHROPIC_RESERVED = ['model', 'messages', 'system', 'tools', 'tool_choice', 'stream'];

const API_VERSION = '2023-06-01';

/** The tool that a structured reply is the arguments of: the API has no other way that all models know. */
const REPLY_TOOL = 'reply';

const messageSchema = z.object({
  content: z.array(
    z.union([
      z.object({ type: z.literal('text'), text: z.string() }),
      z.object({
        type: z.literal('tool_use'),
        id: z.string(),
        name: z.string(),
        input: z.unknown().optional(),
      }),
      // Thinking, and whatever comes to be.
      z.object({ type: z.string() }).transform(() => ({ type: 'other' as const })),
    ]),
  ),
  stop_reason: z.string().nullish(),
  usage: z.object({
    input_tokens: z.int().nonnegative(),
    output_tokens: z.int().nonnegative(),
    cache_creation_input_tokens: z.int().nonnegative().nullish(),
    cache_read_input_tokens: z.int().nonnegative().nullish(),
  }),
});

/** What newer models no longer take: a temperature, and being made to call a tool. */
interface Demands {
  readonly hasTemperature: boolean;
  readonly isForced: boolean;
}

/** Anthropic's `/v1/messages`, and servers that have it too. */
function anthropicClient(url: string, key: string | undefined, options: AnthropicOptions): ModelClient {
  const send = relaxing<Demands>({ hasTemperature: true, isForced: true }, (demands, { message }) => {
    if (demands.hasTemperature && /temperature/i.test(message)) return { ...demands, hasTemperature: false };
    if (demands.isForced && /tool_choice/i.test(message)) return { ...demands, isForced: false };
    return undefined;
  });
  return {
    server: anthropicServer(url, key),
    readBody: readWhole,
    async chat(query, fetch) {
      requireKey(url, 'ANTHROPIC_API_KEY', key);
      const client = new Anthropic({
        baseURL: url,
        apiKey: key ?? NO_KEY,
        // The header and the version that the format here was written for, and that other servers with it know; the library
        // has newer ones of its own.
        defaultHeaders: { Authorization: null, 'X-Api-Key': key ?? NO_KEY, 'Anthropic-Version': API_VERSION },
        // One place retries, keeps the time and speaks: not this one.
        maxRetries: 0,
        timeout: 2 ** 31 - 1,
        logLevel: 'off',
        openTelemetry: false,
        fetch,
      });
      // Not `messages.create`, which prints which models are old.
      const received = await send(
        (demands): Promise<unknown> =>
          client.post('/v1/messages', { body: bodyFor(query, options, demands) }),
      );
      return replyOf(messageSchema.parse(received), query);
    },
  };
}

function bodyFor(
  { model, messages, tools, schema }: ModelQuery,
  options: AnthropicOptions,
  demands: Demands,
) {
  const { temperature, ...rest } = options;
  const told = schema === undefined || demands.isForced ? messages : withSchema(messages, schema);
  const system = told.flatMap((message) => (message.role === 'system' ? [message.content] : [])).join('\n\n');
  const offered = tools.map(({ name, description, parameters }) => ({
    name,
    description,
    input_schema: parameters,
  }));
  return {
    ...rest,
    model,
    messages: turnsOf(told),
    ...(system === '' ? {} : { system }),
    ...(temperature === null || !demands.hasTemperature ? {} : { temperature }),
    ...(offered.length === 0 ? {} : { tools: offered }),
    ...(schema === undefined
      ? {}
      : {
          tools: [{ name: REPLY_TOOL, description: 'Takes the whole reply.', input_schema: schema }],
          tool_choice: demands.isForced ? { type: 'tool', name: REPLY_TOOL } : { type: 'auto' },
        }),
  };
}

/** Turns of user and assistant: what follows each other of one side is one turn, tools' results are the user's. */
function turnsOf(messages: readonly ChatMessage[]): MessageParam[] {
  const turns: { role: 'user' | 'assistant'; content: ContentBlockParam[] }[] = [];
  for (const message of messages) {
    if (message.role === 'system') continue;
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const blocks = blocksOf(message);
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    // An empty turn is refused; who said nothing is passed over.
    else if (blocks.length > 0) turns.push({ role, content: blocks });
  }
  return turns;
}

function blocksOf(message: Exclude<ChatMessage, { role: 'system' }>): ContentBlockParam[] {
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
          input: argumentsObject(call),
        }),
      );
      return [...text, ...(calls ?? [])];
    }
    case 'tool':
      return [{ type: 'tool_result', tool_use_id: message.toolCallId, content: message.content }];
  }
}

function replyOf(
  { content, stop_reason, usage }: z.infer<typeof messageSchema>,
  query: ModelQuery,
): ModelReply {
  const uses = content.flatMap((block) => (block.type === 'tool_use' ? [block] : []));
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
  const structured = query.schema === undefined ? undefined : uses.find(({ name }) => name === REPLY_TOOL);
  const toolCalls =
    query.schema === undefined
      ? toolCallsOf(
          uses.map(({ id, name, input }) => ({ id, name, arguments: input })),
          query.messages.length,
        )
      : [];
  return {
    content: structured === undefined ? text : JSON.stringify(structured.input),
    toolCalls,
    finish: finishOf(stop_reason, toolCalls.length > 0),
    promptTokens:
      usage.input_tokens + (usage.cache_creation_input_tokens ?? 0) + (usage.cache_read_input_tokens ?? 0),
    completionTokens: usage.output_tokens,
  };
}

function finishOf(reason: string | null | undefined, hasCalls: boolean): ModelReply['finish'] {
  if (reason === 'refusal') return 'filtered';
  if (reason === 'max_tokens' || reason === 'model_context_window_exceeded') return 'length';
  return hasCalls ? 'tool_calls' : 'stop';
}

function anthropicServer(url: string, key: string | undefined): ModelServer {
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
      cutReply: 'raise options.max_tokens',
      missingModel: () => 'name one that it has with --model, such as claude-haiku-4-5',
    },
  };
}
