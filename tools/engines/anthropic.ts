import type { ChatMessage } from '@gaia-mesh/core/contracts/engine.ts';
import {
  isJsonList,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '@gaia-mesh/core/contracts/packet.ts';
import { joinUrl } from '@gaia-mesh/core/system/outgoing-url.ts';
import { formatForeignJson } from '@gaia-mesh/core/system/parse-json.ts';
import * as z from 'zod';
import {
  type CapabilityQuery,
  type ModelCapabilities,
  optionalBoolean,
  optionalNumber,
} from './capabilities.ts';
import type { ModelFormat, ModelOptions, ModelQuery } from './model-format.ts';
import { parseArguments } from './replies/json-reply.ts';
import type { ModelReply, ServerReply } from './replies/server-reply.ts';
import { withSchema } from './requests/in-words.ts';

/** The version for which this format was written, and which compatible servers know. */
const API_VERSION = '2023-06-01';

/** The format of Anthropic's `/v1/messages`, and of servers that are compatible with it. */
export const anthropicFormat: ModelFormat = {
  maker: 'Anthropic',
  options: z
    .object({
      // Null leaves out what newer models do not take.
      temperature: z.number().min(0).max(1).nullable().default(0),
      // The server requires a bound; this one is the output limit of the smallest models that are still served.
      max_tokens: z.int().positive().default(8192),
    })
    .catchall(z.json()),
  reserved: ['model', 'messages', 'system', 'tools', 'tool_choice', 'stream'],
  path: '/v1/messages',
  buildHeaders: (key) => {
    const version = { 'Anthropic-Version': API_VERSION };
    return key === undefined ? version : { ...version, 'X-Api-Key': key };
  },
  buildBody,
  member: 'content',
  openReply,
  queryCapabilities,
  buildAdvice: ({ keyVariable }) => ({
    start: 'say where it is with --base-url',
    busy: '',
    key: `check ${keyVariable}`,
    longPrompt: 'take a model with a larger context',
    onlyThoughts: 'leave out options.thinking, or raise options.max_tokens',
    cutReply: 'raise options.max_tokens',
    missingModel: () => 'name one that it has with --model, such as claude-haiku-4-5',
  }),
};

/** The tool whose arguments are a structured reply: the API has no other way that all models support. */
const REPLY_TOOL = 'reply';

function buildBody({ model, messages, tools, schema, reply, omits }: ModelQuery, options: ModelOptions) {
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
      return isLast ? { ...block, ...CACHED } : block;
    }),
  }));
}

interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: Block[];
}

type Block = { readonly type: 'text' | 'image' | 'tool_use' | 'tool_result' } & Readonly<
  Record<string, unknown>
>;

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

function toBlocks(message: Exclude<ChatMessage, { role: 'system' }>): Block[] {
  const text: Block[] = message.content.trim() === '' ? [] : [{ type: 'text', text: message.content }];
  switch (message.role) {
    case 'user': {
      const images = message.images?.map(
        ({ mediaType, base64 }): Block => ({
          type: 'image',
          source: { type: 'base64', media_type: mediaType, data: base64 },
        }),
      );
      return [...(images ?? []), ...text];
    }
    case 'assistant': {
      const calls = message.toolCalls?.map(
        (call): Block => ({
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

/** Reads a stream of events (`message_start` … `message_stop`), or the whole at once. */
function openReply(reply: ServerReply, query: ModelQuery) {
  let usage: JsonObject = {};
  let type: JsonValue | undefined;
  const addUsage = (more: JsonValue | undefined) => {
    if (isJsonObject(more)) usage = { ...usage, ...more };
  };
  return {
    add(part: JsonObject) {
      const { index, message, content_block: block, delta, content, stop_reason } = part;
      if (part.type === 'message_stop') reply.close();
      if (isJsonObject(message)) addUsage(message.usage);
      addUsage(part.usage);
      if (isJsonObject(block)) {
        ({ type } = block);
        addBlock(reply, block, index);
      }
      const whole = isJsonList(content) ? content : [content ?? null];
      for (const [at, one] of whole.entries()) {
        if (isJsonObject(one)) addBlock(reply, one, at);
        else reply.addContent(one);
      }
      reply.end(stop_reason);
      if (!isJsonObject(delta)) return;
      reply.end(delta.stop_reason);
      if (delta.text !== undefined && type !== 'thinking') reply.addContent(delta.text);
      reply.addThoughts(type === 'thinking' ? (delta.thinking ?? delta.text) : delta.thinking);
      // The input stays text: the reader of arguments handles those that are not JSON.
      if (typeof delta.partial_json === 'string') reply.addCall({ index, arguments: delta.partial_json });
    },
    end() {
      const read = (name: string) => reply.readCount(usage[name], `usage.${name}`);
      const [input, output] = [read('input_tokens'), read('output_tokens')];
      const written = read('cache_creation_input_tokens') ?? 0;
      const cached = read('cache_read_input_tokens') ?? 0;
      const whole = reply.toReply(query.messages.length, {
        // The server's own figure excludes the cache.
        promptTokens: input === null ? null : input + written + cached,
        completionTokens: output,
        cachedTokens: cached === 0 ? undefined : cached,
        cacheWriteTokens: written === 0 ? undefined : written,
      });
      return unwrapReply(whole, query);
    },
  };
}

/** Kinds of blocks that are no words of the model. */
const SILENT: ReadonlySet<JsonValue | undefined> = new Set(['redacted_thinking', 'server_tool_use']);

function addBlock(reply: ServerReply, block: JsonObject, index: JsonValue | undefined): void {
  const { type, id, name, input } = block;
  if (type === 'tool_use') {
    // A stream begins with an empty object and brings the input in pieces.
    const given = isJsonObject(input) && Object.keys(input).length === 0 ? undefined : input;
    reply.addCall({ index, id, name, arguments: given });
  } else if (type === 'thinking') reply.addThoughts(block.thinking);
  else if (!SILENT.has(type)) reply.addContent([block]);
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

const supported = z.object({ supported: optionalBoolean }).nullish().catch(undefined);
const modelSchema = z.object({
  id: z.string(),
  max_input_tokens: optionalNumber,
  capabilities: z
    .object({ image_input: supported, thinking: supported, structured_outputs: supported })
    .nullish()
    .catch(undefined),
});
const listSchema = z.object({ data: z.array(modelSchema) });

/** Queries the Models API; every model of this API supports tools. */
async function queryCapabilities({ url, model, ask }: CapabilityQuery): Promise<Partial<ModelCapabilities>> {
  const listed = await ask(joinUrl(url, '/v1/models?limit=1000'), listSchema);
  // A name without a date stands for the newest version and is not in the list.
  const own =
    listed?.data.find(({ id }) => id === model) ??
    (await ask(joinUrl(url, `/v1/models/${encodeURIComponent(model)}`), modelSchema));
  const { image_input, thinking } = own?.capabilities ?? {};
  return {
    isThere: own === undefined ? null : true,
    tools: true,
    schemas: true,
    vision: image_input?.supported ?? null,
    thinking: thinking?.supported ?? null,
    contextTokens: own?.max_input_tokens ?? null,
    others: (listed?.data ?? []).map(({ id }) => ({ name: id, chats: true, tools: true })),
  };
}
