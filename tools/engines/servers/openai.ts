import type { ChatMessage, Engine } from '@gaia-mesh/core/contracts/engine.ts';
import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { formatForeignJson } from '@gaia-mesh/core/system/parse-json.ts';
import OpenAI from 'openai';
import type {
  ChatCompletionContentPart,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions';
import * as z from 'zod';
import type { EngineOptions } from '../engine-options.ts';
import { parseEngineSettings } from '../engine-settings.ts';
import { createModelEngine } from '../model-engine.ts';
import { findPresetPrice } from '../prices.ts';
import { parseArguments } from '../replies/json-reply.ts';
import { resolveModelEndpoints } from '../requests/model-endpoint.ts';
import { isStrict } from '../schemas/portable-schema.ts';
import type { ModelClient, ModelQuery, ModelServer } from './model-client.ts';
import { readCompletion } from './openai-stream.ts';
import { NO_KEY, requireKey } from './server-key.ts';
import { findOpenaiKey, resolveOpenaiUrl, SERVER_KINDS } from './server-url.ts';

/**
 * Creates the engine for a model on any server with OpenAI's format: llama.cpp, vLLM, LM Studio, OpenAI itself.
 *
 * @throws MeshError `usage` for options that no server could take
 */
export function createOpenaiEngine(options: EngineOptions): Engine {
  const { environment = process.env } = options;
  const { settings, model } = parseEngineSettings(
    'OpenAI',
    options.options ?? {},
    openaiOptions,
    OPENAI_RESERVED,
  );
  const endpoints = resolveModelEndpoints(options, settings, {
    defaultModel: SERVER_KINDS.openai.defaultModel,
    createClient: (host) => {
      const url = resolveOpenaiUrl(host, environment);
      return createOpenaiClient(url, findOpenaiKey(url, environment), model);
    },
    presetPrice: findPresetPrice,
  });
  return createModelEngine('openai', endpoints, options, settings);
}

/** Options of the model; null leaves out those that a server does not accept. */
const openaiOptions = z.object({ temperature: z.number().min(0).nullable().default(0) }).catchall(z.json());
type OpenaiOptions = z.infer<typeof openaiOptions>;

/** Parts of the request that the engine writes. */
const OPENAI_RESERVED = ['model', 'messages', 'tools', 'response_format', 'stream', 'stream_options', 'n'];

/** Creates a client for any server with OpenAI's `/chat/completions`. */
function createOpenaiClient(url: string, key: string | undefined, options: OpenaiOptions): ModelClient {
  return {
    server: describeOpenaiServer(url, key),
    async chat(query, send) {
      requireKey(url, 'OPENAI_API_KEY', key);
      const client = new OpenAI({
        baseURL: url,
        apiKey: key ?? NO_KEY,
        // OpenAI's other settings in the environment do not concern this server.
        adminAPIKey: null,
        organization: null,
        project: null,
        // Retries, time limits and messages are handled elsewhere.
        maxRetries: 0,
        timeout: 2 ** 31 - 1,
        logLevel: 'off',
        fetch: (input, init) => send(input, init),
      });
      const response = await client
        .post('/chat/completions', { body: buildBody(query, options) })
        .asResponse();
      return readCompletion(response, query.messages.length);
    },
  };
}

/** Builds a streamed request, so that silence can be told from work; the body's reader assembles the chunks. */
function buildBody({ model, messages, tools, schema, reply, omits }: ModelQuery, options: OpenaiOptions) {
  const { temperature, ...rest } = options;
  const isStreamed = !omits.includes('stream');
  return {
    ...rest,
    model,
    messages: messages.map(toOpenaiMessage),
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

function toOpenaiMessage(message: ChatMessage): ChatCompletionMessageParam {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.content };
    case 'user': {
      const { content, images = [] } = message;
      if (images.length === 0) return { role: 'user', content };
      const parts: ChatCompletionContentPart[] = images.map(({ mediaType, base64 }) => ({
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

export function describeOpenaiServer(url: string, key: string | undefined): ModelServer {
  return {
    url,
    name: 'OpenAI-compatible server',
    maker: 'OpenAI',
    key,
    isTransient: (status) => status === 429 || status >= 500,
    advice: {
      start:
        'start it, or say where it is: --base-url http://host:port/v1; or run without a model: --engine extractive',
      busy: '',
      key: 'check OPENAI_API_KEY',
      longPrompt: 'take a model with a larger context, or start the server with one',
      onlyThoughts:
        'turn its thoughts off (--engine-option reasoning_effort=none, or where the server is started: llama.cpp --reasoning-budget 0), or let the server leave them in the content (llama.cpp --reasoning-format none, vLLM without --reasoning-parser)',
      cutReply: 'raise options.max_tokens, or the context of the server',
      missingModel: () => `name one that it has (\`GET ${url}/models\` lists them) with --model`,
    },
  };
}
