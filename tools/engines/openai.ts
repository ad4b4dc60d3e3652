import type { ChatMessage } from '@gaia-mesh/core/contracts/engine.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import {
  isJsonList,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '@gaia-mesh/core/contracts/packet.ts';
import { tokenCountsSchema } from '@gaia-mesh/core/contracts/prompt-part.ts';
import { joinUrl } from '@gaia-mesh/core/system/outgoing-url.ts';
import { formatForeignJson } from '@gaia-mesh/core/system/parse-json.ts';
import { listParts } from '@gaia-mesh/core/tokens/parts-of.ts';
import * as z from 'zod';
import {
  type CapabilityQuery,
  type ModelCapabilities,
  optionalBoolean,
  optionalNumber,
} from './capabilities.ts';
import { createReplyError } from './http/fault.ts';
import type { ModelFormat, ModelOptions, ModelQuery } from './model-format.ts';
import { parseArguments } from './replies/json-reply.ts';
import type { ServerReply } from './replies/server-reply.ts';
import { isStrict } from './schemas/portable-schema.ts';

/** The format of OpenAI's `/chat/completions`, which llama.cpp, vLLM, LM Studio and many others speak. */
export const openaiFormat: ModelFormat = {
  maker: 'OpenAI',
  // A temperature of null leaves it out, for servers that do not accept it.
  options: z.object({ temperature: z.number().min(0).nullable().default(0) }).catchall(z.json()),
  reserved: ['model', 'messages', 'tools', 'response_format', 'stream', 'stream_options', 'n'],
  path: '/chat/completions',
  buildHeaders: (key) => (key === undefined ? {} : { Authorization: `Bearer ${key}` }),
  buildBody,
  member: 'choices',
  openReply,
  queryCapabilities,
  buildAdvice: ({ url, keyVariable }) => ({
    start: 'start it, or say where it is: --base-url http://host:port/v1',
    busy: '',
    key: `check ${keyVariable}`,
    longPrompt: 'take a model with a larger context, or start the server with one',
    onlyThoughts:
      'turn its thoughts off (--engine-option reasoning_effort=none, or where the server is started: llama.cpp --reasoning-budget 0), or let the server leave them in the content (llama.cpp --reasoning-format none, vLLM without --reasoning-parser)',
    cutReply: 'raise options.max_tokens, or the context of the server',
    missingModel: () => `name one that it has (\`GET ${url}/models\` lists them) with --model`,
  }),
};

/** The format of the process that runs models: OpenAI's, with advice for a server that the user neither started nor can configure. */
export const llamaFormat: ModelFormat = {
  ...openaiFormat,
  // The process knows the model's tokenizer: told where the parts of a message end, it counts the tokens of each.
  buildBody: (query, options) => ({
    ...buildBody(query, options),
    messages: query.messages.map((message) => ({
      ...toWireMessage(message),
      parts: listParts(message).map(({ kind, text }) => [kind, text.length]),
    })),
  }),
  buildAdvice: () => ({
    start:
      'the process that ran the model has ended, mostly for lack of memory: take a smaller model or --context',
    busy: ' (--concurrency)',
    key: 'the model of another run was asked; run the command again',
    longPrompt: 'give it a larger context (--context), if the model has one, or take another model',
    onlyThoughts: 'take a model without thoughts',
    cutReply: 'raise max_tokens (--engine-option max_tokens=4096), or take a larger model, which loops less',
    missingModel: () => 'name its GGUF file with --model',
  }),
};

function buildBody({ model, messages, tools, schema, reply, omits }: ModelQuery, options: ModelOptions) {
  const { temperature, ...rest } = options;
  const isStreamed = !omits.includes('stream');
  return {
    ...rest,
    model,
    messages: messages.map(toWireMessage),
    temperature: temperature === null || omits.includes('temperature') ? undefined : temperature,
    tools: tools.length === 0 ? undefined : tools.map((tool) => ({ type: 'function', function: tool })),
    response_format: schema === undefined ? undefined : buildResponseFormat(schema, reply),
    stream: isStreamed ? true : undefined,
    stream_options: isStreamed && !omits.includes('stream_options') ? { include_usage: true } : undefined,
  };
}

function buildResponseFormat(schema: JsonObject, reply: ModelQuery['reply']) {
  switch (reply) {
    case 'schema':
      return { type: 'json_schema', json_schema: { name: 'reply', schema, strict: isStrict(schema) } };
    case 'json':
      return { type: 'json_object' };
    case 'text':
      return undefined;
  }
}

function toWireMessage(message: ChatMessage) {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.content };
    case 'user': {
      const { content, images = [] } = message;
      if (images.length === 0) return { role: 'user', content };
      const parts = images.map(({ mediaType, base64 }) => ({
        type: 'image_url',
        image_url: { url: `data:${mediaType};base64,${base64}` },
      }));
      return { role: 'user', content: content === '' ? parts : [{ type: 'text', text: content }, ...parts] };
    }
    case 'assistant': {
      const calls = message.toolCalls ?? [];
      if (calls.length === 0) return { role: 'assistant', content: message.content };
      return {
        role: 'assistant',
        content: message.content === '' ? null : message.content,
        tool_calls: calls.map((call) => ({
          id: call.id,
          type: 'function',
          // Some servers parse the text and fail if it is not an object.
          function: { name: call.name, arguments: formatForeignJson(parseArguments(call)) },
        })),
      };
    }
    case 'tool':
      return { role: 'tool', tool_call_id: message.toolCallId, content: message.content };
  }
}

/** Reads chunks of `chat.completion.chunk`, or the whole at once, as some servers send it regardless of the request. */
function openReply(reply: ServerReply, { messages }: ModelQuery) {
  let usage: JsonValue | undefined;
  return {
    add(part: JsonObject) {
      usage = part.usage ?? usage;
      addChoice(reply, part);
    },
    end() {
      const { prompt_tokens, completion_tokens, prompt_tokens_details, counts } = isJsonObject(usage)
        ? usage
        : {};
      const { cached_tokens } = isJsonObject(prompt_tokens_details) ? prompt_tokens_details : {};
      return reply.toReply(messages.length, {
        promptTokens: reply.readCount(prompt_tokens, 'usage.prompt_tokens'),
        completionTokens: reply.readCount(completion_tokens, 'usage.completion_tokens'),
        cachedTokens:
          reply.readCount(cached_tokens, 'usage.prompt_tokens_details.cached_tokens') ?? undefined,
        counts: tokenCountsSchema.safeParse(counts).data,
      });
    },
  };
}

/** Adds the first choice of a chunk or of a whole reply. */
function addChoice(reply: ServerReply, { choices }: JsonObject): void {
  const [choice] = isJsonList(choices) ? choices : [];
  if (!isJsonObject(choice)) return;
  if (choice.error !== undefined && choice.error !== null) throw createReplyError(choice);
  const delta = choice.delta ?? choice.message;
  if (isJsonObject(delta)) {
    reply.addContent(delta.content);
    // Two names for thoughts: DeepSeek's and llama.cpp's, and vLLM's newer one. Some servers send both.
    reply.addThoughts(delta.reasoning_content ?? delta.reasoning);
    reply.refuse(delta.refusal);
    for (const part of isJsonList(delta.tool_calls) ? delta.tool_calls : []) {
      const call = isJsonObject(part) ? part : {};
      const own = isJsonObject(call.function) ? call.function : {};
      reply.addCall({ index: call.index, id: call.id, name: own.name, arguments: own.arguments });
    }
  }
  reply.end(choice.finish_reason);
}

/** A list of models with further fields: vLLM, OpenRouter and Groq name the context length differently. */
const modelsSchema = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      owned_by: z.string().nullish(),
      max_model_len: optionalNumber,
      context_length: optionalNumber,
      context_window: optionalNumber,
    }),
  ),
});

/** The properties of llama.cpp (tools/server/README.md of https://github.com/ggml-org/llama.cpp). */
const propsSchema = z.object({
  default_generation_settings: z.object({ n_ctx: optionalNumber }),
  modalities: z.object({ vision: optionalBoolean }).nullish(),
  chat_template_caps: z
    .object({ supports_tools: optionalBoolean, supports_tool_calls: optionalBoolean })
    .nullish(),
});

/** The list of LM Studio (https://lmstudio.ai/docs/app/api/endpoints/rest). */
const studioSchema = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      type: z.string(),
      max_context_length: optionalNumber,
      loaded_context_length: optionalNumber,
      capabilities: z.array(z.string()).nullish(),
    }),
  ),
});

async function queryCapabilities(query: CapabilityQuery): Promise<Partial<ModelCapabilities>> {
  const { url, model, ask } = query;
  const { origin } = new URL(url);
  const listed = await ask(joinUrl(url, '/models'), modelsSchema);
  const own = listed?.data.find(({ id }) => listNames(model).includes(id));
  // The makers' own servers have no further endpoints.
  const isLocal = new URL(url).protocol === 'http:';
  const props = isLocal ? await ask(joinUrl(origin, '/props'), propsSchema) : undefined;
  const studio =
    isLocal && props === undefined ? await ask(joinUrl(origin, '/api/v0/models'), studioSchema) : undefined;
  const there = studio?.data.find(({ id }) => id === model);
  let isThere: boolean | null = own === undefined ? null : true;
  // llama.cpp, which has properties, serves its one model under any name.
  if (own === undefined && props === undefined && isWhole(listed?.data ?? []))
    isThere = await knowsUnlisted(query);
  const caps = props?.chat_template_caps;
  const context =
    props?.default_generation_settings.n_ctx ??
    there?.loaded_context_length ??
    there?.max_context_length ??
    own?.max_model_len ??
    own?.context_length ??
    own?.context_window;
  return {
    isThere,
    chats: there === undefined ? null : there.type !== 'embeddings',
    tools:
      caps?.supports_tools ?? caps?.supports_tool_calls ?? there?.capabilities?.includes('tool_use') ?? null,
    vision: props?.modalities?.vision ?? (there === undefined ? null : there.type === 'vlm'),
    contextTokens: context ?? null,
    others: (listed?.data ?? []).map(({ id }) => {
      const known = studio?.data.find((other) => other.id === id);
      return {
        name: id,
        chats: known === undefined ? null : known.type !== 'embeddings',
        tools: known?.capabilities?.includes('tool_use') ?? null,
      };
    }),
  };
}

/** Returns the names under which lists have a model: Gemini's with a folder, Ollama's with a tag, OpenRouter's without a variant. */
function listNames(model: string): string[] {
  const [plain = model] = model.split(':');
  return [model, `models/${model}`, `${model}:latest`, plain];
}

/** Returns true if a list has all models: gateways may list a pattern such as `openai/*`, and some servers list nothing. */
function isWhole(list: readonly { id: string }[]): boolean {
  return list.length > 0 && list.every(({ id }) => !id.includes('*'));
}

/**
 * Returns true if a server knows a model that its list lacks, such as the newest version of a model by its name without a date; null
 * if it does not say.
 */
async function knowsUnlisted({ url, model, ask }: CapabilityQuery): Promise<boolean | null> {
  try {
    const path = `/models/${encodeURIComponent(model)}`;
    return (await ask(joinUrl(url, path), z.object({ id: z.string() }))) !== undefined;
  } catch (error) {
    // The server has just accepted the key and listed its models, so this says nothing about either.
    if (error instanceof MeshError) return null;
    throw error;
  }
}
