import http from 'node:http';
import type net from 'node:net';
import type { ChatMessage, ToolDefinition } from '@gaia-mesh/core/contracts/engine.ts';
import { toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { LLAMA_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import {
  formatIssues,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '@gaia-mesh/core/contracts/packet.ts';
import { PROMPT_KINDS } from '@gaia-mesh/core/contracts/prompt-part.ts';
import { tryParseJson } from '@gaia-mesh/core/system/json-line.ts';
import { readBytes } from '@gaia-mesh/core/system/limit-bytes.ts';
import { isSameSecret } from '@gaia-mesh/core/system/same-secret.ts';
import PQueue from 'p-queue';
import * as z from 'zod';
import { findTextCalls } from '../replies/text-calls.ts';
import { CALL_MARK, type GenerateOptions, type LocalModel } from './local-model.ts';

const object = z.custom<JsonObject>(isJsonObject, 'expected an object');
const textPart = z.object({ type: z.literal('text'), text: z.string() });
const content = z
  .union([z.string(), z.array(textPart).transform((parts) => parts.map(({ text }) => text).join('\n'))])
  .nullish()
  .transform((text) => text ?? '');

/** Kinds and lengths of the parts of a content, so that their tokens can be counted; unreadable ones are one part. */
const parts = z
  .array(z.tuple([z.enum(PROMPT_KINDS), z.int().nonnegative()]))
  .max(LLAMA_LIMITS.messageParts)
  .optional()
  .catch(undefined);

const messageSchema = z.discriminatedUnion('role', [
  z.object({ role: z.enum(['system', 'developer', 'user']), content, parts }),
  z.object({ role: z.literal('tool'), content, tool_call_id: z.string() }),
  z.object({
    role: z.literal('assistant'),
    content,
    tool_calls: z
      .array(z.object({ id: z.string(), function: z.object({ name: z.string(), arguments: z.string() }) }))
      .nullish(),
  }),
]);

const toolSchema = z.object({
  function: z.object({
    name: z.string().min(1),
    description: z.string().default(''),
    parameters: object.default({ type: 'object' }),
  }),
});

/** The parts of OpenAI's chat completions that the server follows; it ignores all others. */
const requestSchema = z.object({
  model: z.string(),
  messages: z.array(messageSchema).min(1),
  tools: z.array(toolSchema).nullish(),
  tool_choice: z.unknown().optional(),
  response_format: z
    .discriminatedUnion('type', [
      z.object({ type: z.literal('text') }),
      z.object({ type: z.literal('json_object') }),
      z.object({ type: z.literal('json_schema'), json_schema: z.object({ schema: object }) }),
    ])
    .nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  temperature: z.number().min(0).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  top_k: z.int().min(0).nullish(),
  min_p: z.number().min(0).max(1).nullish(),
  frequency_penalty: z.number().nullish(),
  presence_penalty: z.number().nullish(),
  seed: z.int().nullish(),
  max_tokens: z.int().positive().nullish(),
  max_completion_tokens: z.int().positive().nullish(),
  stop: z.union([z.string(), z.array(z.string()).max(8)]).nullish(),
});
/** Texts whose tokens are counted, without the marks of the chat format. */
const tokenizeSchema = z.object({ model: z.string(), texts: z.array(z.string()) });
type ChatQuery = z.output<typeof requestSchema>;

/** A request that is refused, in OpenAI's words where it has some. */
class Refusal extends Error {
  readonly status: number;
  readonly type: string;

  constructor(status: number, message: string, type = 'invalid_request_error') {
    super(message);
    this.status = status;
    this.type = type;
  }
}

interface ChatServerOptions {
  /** The key that every request must bring. */
  readonly token: string;
  readonly models: ReadonlyMap<string, LocalModel>;
}

/** Serves models in OpenAI's chat format, one request at a time: two at once would each take more than twice as long. */
export function serveChat(listening: net.Server, options: ChatServerOptions): void {
  const turns = new PQueue({ concurrency: 1 });
  const server = http.createServer((request, response) => {
    reply(request, response, options, turns).catch((error: unknown) => {
      const refusal =
        error instanceof Refusal ? error : new Refusal(500, toErrorMessage(error), 'server_error');
      sendError(response, refusal);
    });
  });
  listening.removeAllListeners('connection');
  listening.on('connection', (socket) => server.emit('connection', socket));
}

async function reply(
  request: http.IncomingMessage,
  response: http.ServerResponse,
  { token, models }: ChatServerOptions,
  turns: PQueue,
): Promise<void> {
  const [, given = ''] = /^Bearer (.*)$/.exec(request.headers.authorization ?? '') ?? [];
  if (!isSameSecret(given, token)) throw new Refusal(401, 'wrong or missing key', 'invalid_api_key');
  const find = (name: string): LocalModel => {
    const model = models.get(name);
    if (model === undefined)
      throw new Refusal(404, `the model ${name} is not served here`, 'model_not_found');
    return model;
  };
  switch (`${request.method} ${request.url}`) {
    case 'GET /v1/models': {
      const data = [...models].map(([id, { contextTokens }]) => ({
        id,
        object: 'model',
        context_length: contextTokens,
      }));
      return sendJson(response, { object: 'list', data });
    }
    case 'GET /props':
      return sendJson(response, {
        // Models that differ in it are told apart by the list.
        default_generation_settings: {},
        modalities: { vision: false },
        chat_template_caps: { supports_tools: true },
      });
    case 'POST /v1/chat/completions': {
      const query = await readRequest(request, requestSchema);
      return complete(query, find(query.model), response, turns);
    }
    case 'POST /v1/tokenize': {
      const { model, texts } = await readRequest(request, tokenizeSchema);
      const own = find(model);
      return sendJson(response, { tokens: texts.map((text) => own.tokenizeText(text).length) });
    }
    default:
      throw new Refusal(404, `there is no ${request.method} ${request.url}`);
  }
}

async function readRequest<Schema extends z.ZodType>(
  request: http.IncomingMessage,
  schema: Schema,
): Promise<z.output<Schema>> {
  const createError = () => new Refusal(413, `expected at most ${LLAMA_LIMITS.bodyBytes} bytes`);
  const body = await readBytes(request, LLAMA_LIMITS.bodyBytes, createError);
  let value: unknown;
  try {
    value = JSON.parse(body.toString());
  } catch {
    throw new Refusal(400, 'expected a body of JSON');
  }
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new Refusal(400, formatIssues(parsed.error));
  return parsed.data;
}

async function complete(
  query: ChatQuery,
  model: LocalModel,
  response: http.ServerResponse,
  turns: PQueue,
): Promise<void> {
  if (turns.size + turns.pending >= LLAMA_LIMITS.waiting)
    throw new Refusal(429, `${turns.size + turns.pending} requests are waiting`, 'rate_limit_error');
  const left = new AbortController();
  response.on('close', () => left.abort());
  const signal = AbortSignal.any([left.signal, AbortSignal.timeout(LLAMA_LIMITS.replyMs)]);
  const tools = query.tool_choice === 'none' ? [] : (query.tools ?? []).map((tool) => tool.function);
  const prompt = tokenizeQuery(query, tools, model);
  const room = model.contextTokens - prompt.tokens.length;
  const asked = query.max_completion_tokens ?? query.max_tokens ?? LLAMA_LIMITS.replyTokens;
  const options = readOptions(query, tools, { maxTokens: Math.min(asked, room), signal });
  const stream = query.stream === true ? new CompletionStream(response, query, tools) : undefined;
  const heartbeat = setInterval(() => stream?.comfort(), LLAMA_LIMITS.heartbeatMs);
  try {
    const whole = await turns.add(async () => {
      signal.throwIfAborted();
      let text = '';
      const parts = model.generate(prompt, options);
      for (;;) {
        const part = await parts.next();
        if (part.done === true) return { text, ...part.value };
        text += part.value;
        stream?.add(text);
      }
    });
    const usage = {
      prompt_tokens: prompt.tokens.length,
      completion_tokens: whole.tokens,
      total_tokens: prompt.tokens.length + whole.tokens,
      counts: {
        parts: prompt.parts,
        completion: { answer: whole.tokens - whole.callTokens, reasoning: 0, tool_calls: whole.callTokens },
      },
    };
    const said = splitReply(whole.text, tools);
    const finish = said.calls.length > 0 ? 'tool_calls' : signal.aborted ? 'length' : whole.finish;
    if (stream !== undefined) return stream.end(said, finish, usage);
    const message = {
      role: 'assistant',
      content: said.content === '' && said.calls.length > 0 ? null : said.content,
      tool_calls: said.calls.length === 0 ? undefined : said.calls.map(toWireCall),
    };
    sendJson(response, {
      id: 'chatcmpl-local',
      object: 'chat.completion',
      model: query.model,
      choices: [{ index: 0, message, finish_reason: finish }],
      usage,
    });
  } catch (error) {
    // A client that has left needs no reply.
    if (!left.signal.aborted) throw error;
  } finally {
    clearInterval(heartbeat);
  }
}

function tokenizeQuery(
  query: ChatQuery,
  tools: readonly ToolDefinition[],
  model: LocalModel,
): ReturnType<LocalModel['tokenize']> {
  const messages = toChatMessages(query);
  const { contextTokens } = model;
  const characters = messages.reduce((sum, message) => sum + message.content.length, 0);
  const tooLong = (size: string) =>
    new Refusal(
      400,
      `the request (${size}) exceeds the available context size (${contextTokens} tokens)`,
      'exceed_context_size_error',
    );
  // A tokenizer takes seconds for texts that would never fit.
  if (characters > contextTokens * LLAMA_LIMITS.charactersPerToken) throw tooLong(`${characters} characters`);
  let prompt: ReturnType<LocalModel['tokenize']>;
  try {
    prompt = model.tokenize(messages, tools);
  } catch (error) {
    throw new Refusal(
      400,
      `the chat template of the model refuses the conversation: ${toErrorMessage(error)}`,
    );
  }
  // A reply needs a token, too.
  if (prompt.tokens.length >= contextTokens) throw tooLong(`${prompt.tokens.length} tokens`);
  return prompt;
}

function toChatMessages({ messages }: Pick<ChatQuery, 'messages'>): ChatMessage[] {
  const names = new Map<string, string>();
  return messages.map((message): ChatMessage => {
    switch (message.role) {
      case 'tool': {
        const { content, tool_call_id: toolCallId } = message;
        return { role: 'tool', content, toolCallId, name: names.get(toolCallId) ?? '' };
      }
      case 'assistant': {
        const toolCalls = (message.tool_calls ?? []).map(({ id, function: { name, arguments: given } }) => {
          names.set(id, name);
          const value = tryParseJson(given);
          return { id, name, arguments: isJsonObject(value) ? value : given };
        });
        return { role: 'assistant', content: message.content, toolCalls };
      }
      default: {
        const { content, parts: lengths = [] } = message;
        let end = 0;
        const parts = lengths.map(([kind, length]) => {
          end += length;
          return { kind, text: content.slice(end - length, end) };
        });
        return { role: message.role === 'user' ? 'user' : 'system', content, parts };
      }
    }
  });
}

function readOptions(
  query: ChatQuery,
  tools: readonly ToolDefinition[],
  bounds: Pick<GenerateOptions, 'maxTokens' | 'signal'>,
): GenerateOptions {
  const { response_format: format, stop, frequency_penalty: frequency, presence_penalty: presence } = query;
  let schema: JsonValue | undefined;
  if (format?.type === 'json_schema') schema = format.json_schema.schema;
  if (format?.type === 'json_object') schema = { type: 'object' };
  return {
    ...bounds,
    schema,
    tools,
    mustCall: query.tool_choice === 'required' && tools.length > 0,
    temperature: query.temperature ?? 1,
    seed: query.seed ?? 1,
    topP: query.top_p ?? undefined,
    topK: query.top_k ?? undefined,
    minP: query.min_p ?? undefined,
    penalties: frequency || presence ? { frequency: frequency ?? 0, presence: presence ?? 0 } : undefined,
    stop: typeof stop === 'string' ? [stop] : (stop ?? []),
  };
}

interface Said {
  readonly content: string;
  readonly calls: readonly { readonly name: string; readonly arguments: string }[];
}

/** Separates the calls of a reply from its words. */
function splitReply(text: string, tools: readonly ToolDefinition[]): Said {
  const at = tools.length === 0 ? -1 : text.indexOf(CALL_MARK);
  if (at === -1) return { content: text, calls: [] };
  const { calls } = findTextCalls(text.slice(at), tools);
  return {
    content: text.slice(0, at).trimEnd(),
    calls: calls.map(({ name, arguments: given }) => ({ name, arguments: JSON.stringify(given ?? {}) })),
  };
}

function toWireCall(call: Said['calls'][number], index: number) {
  return { index, id: `call_${index}`, type: 'function', function: call };
}

/** Writes a reply as the events of `stream: true`. */
class CompletionStream {
  readonly #response: http.ServerResponse;
  readonly #query: ChatQuery;
  readonly #mayCall: boolean;
  #sent = 0;
  #hasBegun = false;

  constructor(response: http.ServerResponse, query: ChatQuery, tools: readonly ToolDefinition[]) {
    this.#response = response;
    this.#query = query;
    this.#mayCall = tools.length > 0;
  }

  /** Writes a comment as a sign of life to a client that waits for its turn. */
  comfort(): void {
    this.#write(': waiting\n\n');
  }

  /** @param text the whole reply so far */
  add(text: string): void {
    const call = this.#mayCall ? text.indexOf(CALL_MARK) : -1;
    const end = call === -1 ? text.length : text.slice(0, call).trimEnd().length;
    if (end <= this.#sent) return;
    this.#send({
      choices: [{ index: 0, delta: { content: text.slice(this.#sent, end) }, finish_reason: null }],
    });
    this.#sent = end;
  }

  end({ calls }: Said, finish: string, usage: object): void {
    if (calls.length > 0)
      this.#send({
        choices: [{ index: 0, delta: { tool_calls: calls.map(toWireCall) }, finish_reason: null }],
      });
    this.#send({ choices: [{ index: 0, delta: {}, finish_reason: finish }] });
    if (this.#query.stream_options?.include_usage === true) this.#send({ choices: [], usage });
    this.#write('data: [DONE]\n\n');
    this.#response.end();
  }

  #send(chunk: object): void {
    const event = {
      id: 'chatcmpl-local',
      object: 'chat.completion.chunk',
      model: this.#query.model,
      ...chunk,
    };
    this.#write(`data: ${JSON.stringify(event)}\n\n`);
  }

  #write(text: string): void {
    if (!this.#hasBegun) this.#response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    this.#hasBegun = true;
    this.#response.write(text);
  }
}

function sendJson(response: http.ServerResponse, body: object): void {
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}

function sendError(response: http.ServerResponse, { status, message, type }: Refusal): void {
  const body = JSON.stringify({ error: { message, type, code: type } });
  if (!response.headersSent) response.writeHead(status, { 'Content-Type': 'application/json' }).end(body);
  else response.end(`data: ${body}\n\n`);
}
