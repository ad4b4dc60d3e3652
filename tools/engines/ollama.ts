import type { ChatMessage } from '@gaia-mesh/core/contracts/engine.ts';
import { isJsonList, isJsonObject, type JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { joinUrl } from '@gaia-mesh/core/system/outgoing-url.ts';
import * as z from 'zod';
import type { CapabilityQuery, ModelCapabilities } from './capabilities.ts';
import type { ModelFormat, ModelOptions, ModelQuery } from './model-format.ts';
import { parseArguments } from './replies/json-reply.ts';
import type { ServerReply } from './replies/server-reply.ts';

/** The format of Ollama's `/api/chat`. The server enforces the reply's schema, and stops as soon as the client leaves. */
export const ollamaFormat: ModelFormat = {
  maker: 'Ollama',
  // Ollama's default context is small, and a prompt that does not fit is cut silently. Replies are as repeatable as a model allows (RA-22).
  options: z.looseObject({
    seed: z.int().default(1),
    temperature: z.number().min(0).default(0),
    num_ctx: z.int().positive().default(8192),
  }),
  // The server gets the same context size that the window counts on.
  contextOption: 'num_ctx',
  path: '/api/chat',
  buildBody,
  framing: 'lines',
  member: 'message',
  openReply,
  queryCapabilities,
  buildAdvice: ({ contextTokens }) => ({
    start: 'start it with `ollama serve` (install: https://ollama.com)',
    busy: ', or start it with a larger OLLAMA_MAX_QUEUE',
    key: 'it is set where the server runs',
    longPrompt: 'give it a larger context: --context, or options.num_ctx',
    cutReply: `raise options.num_predict or options.num_ctx (--context${contextTokens === undefined ? '' : `, now ${contextTokens}`})`,
    onlyThoughts: 'take a model without thoughts, or one whose template Ollama knows',
    missingModel: (model) => `get it with \`${pullCommand(model)}\``,
  }),
};

/** Returns the command that downloads a model: Ollama's library has Gemma under another name than its makers. */
function pullCommand(model: string): string {
  return model === 'gemma-7b-it'
    ? 'ollama pull gemma:7b-instruct && ollama cp gemma:7b-instruct gemma-7b-it'
    : `ollama pull ${model}`;
}

function buildBody({ model, messages, tools, schema, reply }: ModelQuery, options: ModelOptions) {
  const format = reply === 'schema' ? schema : 'json';
  return {
    model,
    messages: messages.map(toWireMessage),
    options,
    // Older servers ignore `truncate` and `shift`; newer ones then refuse a prompt that does not fit.
    truncate: false,
    shift: false,
    stream: true,
    tools: tools.length === 0 ? undefined : tools.map((tool) => ({ type: 'function', function: tool })),
    format: schema === undefined || reply === 'text' ? undefined : format,
  };
}

function toWireMessage(message: ChatMessage) {
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
      return { role: 'tool', tool_name: name, tool_call_id: toolCallId, content };
    }
  }
}

function openReply(reply: ServerReply, { messages }: ModelQuery) {
  let last: JsonObject = {};
  return {
    add(part: JsonObject) {
      last = part;
      const message = isJsonObject(part.message) ? part.message : {};
      reply.addContent(message.content, 'message.content');
      reply.addThoughts(message.thinking);
      for (const call of isJsonList(message.tool_calls) ? message.tool_calls : []) {
        const { id, function: given } = isJsonObject(call) ? call : {};
        const { name, arguments: args } = isJsonObject(given) ? given : {};
        // Each is a whole call.
        reply.addCall({ id, name, arguments: args ?? {} });
      }
      if (part.done !== true) return;
      reply.end(part.done_reason);
      reply.close();
    },
    end: () =>
      reply.toReply(messages.length, {
        promptTokens: reply.readCount(last.prompt_eval_count, 'prompt_eval_count'),
        completionTokens: reply.readCount(last.eval_count, 'eval_count'),
      }),
  };
}

const capabilities = z.array(z.string()).nullish().catch(undefined);
const tagsSchema = z.object({ models: z.array(z.object({ name: z.string(), capabilities })) });
const showSchema = z.object({ capabilities, model_info: z.record(z.string(), z.unknown()).nullish() });

/** Queries `/api/tags` and `/api/show` (docs/api.md of https://github.com/ollama/ollama); older servers omit the capabilities. */
async function queryCapabilities({ url, model, ask }: CapabilityQuery): Promise<Partial<ModelCapabilities>> {
  const tags = await ask(joinUrl(url, '/api/tags'), tagsSchema);
  const shown = await ask(joinUrl(url, '/api/show'), showSchema, { model });
  const can = (list: readonly string[] | null | undefined, name: string) => list?.includes(name) ?? null;
  const names = tags?.models.map(({ name }) => name);
  const known = shown?.capabilities;
  const [, context] =
    Object.entries(shown?.model_info ?? {}).find(([key]) => key.endsWith('.context_length')) ?? [];
  return {
    isThere: shown === undefined ? (names?.some((name) => isSame(name, model)) ?? null) : true,
    chats: can(known, 'completion'),
    tools: can(known, 'tools'),
    vision: can(known, 'vision'),
    thinking: can(known, 'thinking'),
    schemas: true,
    contextTokens: z.int().positive().safeParse(context).data ?? null,
    others: (tags?.models ?? []).map((other) => ({
      name: other.name,
      chats: can(other.capabilities, 'completion'),
      tools: can(other.capabilities, 'tools'),
    })),
  };
}

/** Compares names: one without a tag means `:latest`. */
function isSame(name: string, model: string): boolean {
  return name === model || name === `${model}:latest`;
}
