import type { JsonObject, JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import { parseServerEvents } from '@gaia-mesh/core/system/server-events.ts';
import { findText, findTimeUs, toCount, toList, toObject, toText, unpackJson } from '../loose-values.ts';
import type { ImportedMessage, ImportNotes, SourceValue, TrafficFormat } from '../message.ts';
import {
  isAnthropic,
  isRequest,
  isResponse,
  readToolCalls,
  readToolResults,
  type ToolCall,
} from './chat-shapes.ts';

/** A request to a model and its response, from a line of a log. */
interface Exchange {
  readonly request: JsonObject;
  readonly response: JsonObject | undefined;
  readonly atUs: number | undefined;
  readonly endUs: number | undefined;
  readonly line: JsonObject;
}

const CLIENT_KEYS = ['agent', 'agent_name', 'app', 'application', 'service', 'client', 'caller'];
const TASK_KEYS = [
  'session_id',
  'sessionId',
  'session',
  'conversation_id',
  'conversation',
  'thread_id',
  'trace_id',
  'custom_id',
];
const END_KEYS = ['end_time', 'endTime', 'ended_at', 'ended', 'completed_at', 'completedAt', 'end'];

/**
 * Imports logs of requests to models with a request and its response per line, wherever in the line they are: OpenAI's chat
 * completions and responses (and its batch files), Anthropic's messages, and the formats of loggers and gateways. Tool calls in a
 * response whose result a later request brings become packets between the client and its tool. A line with only `messages` is a
 * conversation, in which each message goes from one speaker to the next.
 */
const importChatLog: TrafficFormat['read'] = (values, notes) => {
  const messages: ImportedMessage[] = [];
  const conversations = new Conversations(notes);
  for (const source of values) {
    const exchange = findExchange(source);
    if (exchange === undefined) {
      notes.drop('lines without a request to a model', source.where);
    } else if (exchange.response === undefined && toList(exchange.request.messages).some(isAssistant)) {
      messages.push(...readConversation(exchange, source, notes));
    } else messages.push(...conversations.add(exchange));
  }
  return messages;
};

/** Returns the requests and responses in a value. */
const listChats = (value: unknown) => listObjects(toObject(value) ?? {}, 0);

/** Anthropic's come first, since they look like OpenAI's. */
export const chatFormats: readonly TrafficFormat[] = [
  {
    name: 'anthropic',
    about: "requests of Anthropic's messages API",
    read: importChatLog,
    findSign: (value) =>
      listChats(value).some(isAnthropic) ? 'a request or response of messages' : undefined,
  },
  {
    name: 'openai',
    about: "requests of OpenAI's chat and responses APIs, and what looks like them",
    read: importChatLog,
    findSign: (value) => (listChats(value).length > 0 ? 'messages or input with a model' : undefined),
  },
];

function findExchange({ value }: SourceValue): Exchange | undefined {
  const line = toObject(value);
  if (line === undefined) return undefined;
  const candidates = listObjects(line, 0);
  const request = candidates.find(isRequest);
  if (request === undefined) return undefined;
  const response = candidates.find((object) => object !== request && isResponse(object)) ?? parseStream(line);
  const atUs = findTimeUs(line === request ? {} : line);
  const durationMs = toCount(line.duration_ms) ?? toCount(line.durationMs) ?? toCount(line.latency_ms);
  const lasted = atUs === undefined || durationMs === undefined ? undefined : atUs + durationMs * 1000;
  return { request, response, atUs, endUs: findTimeUs(line, END_KEYS) ?? lasted, line };
}

/** Returns the object and the objects below it to a small depth: bodies are nested in requests, requests in lines. */
function listObjects(object: JsonObject, depth: number): JsonObject[] {
  if (depth > 2) return [];
  if (depth > 0 && (isRequest(object) || isResponse(object))) return [object];
  const inner = Object.values(object).flatMap((value) =>
    listObjects(toObject(unpackJson(value)) ?? {}, depth + 1),
  );
  return depth === 0 && (isRequest(object) || isResponse(object)) ? [object, ...inner] : inner;
}

/** Finds the events of a stream that was logged as text or as a list, below any key of the line. */
function parseStream(line: JsonObject): JsonObject | undefined {
  const inner = Object.values(line).flatMap((value) => Object.values(toObject(value) ?? {}));
  for (const value of [...Object.values(line), ...inner]) {
    const events = readStreamEvents(value);
    if (events.some(isChunk)) return toObject({ events });
  }
  return undefined;
}

/** Returns the events of a logged stream: a text of events, or a list of them, each parsed or not. */
function readStreamEvents(value: unknown): readonly unknown[] {
  if (typeof value === 'string')
    return /^(?:event|data):/m.test(value) ? parseEventData(value) : readStreamEvents(parseList(value));
  return toList(value).flatMap((item) => {
    if (typeof item !== 'string') return [item];
    return /^(?:event|data):/m.test(item) ? parseEventData(item) : [unpackJson(item)];
  });
}

/** Tells if an object is a part of a streamed reply: of OpenAI's chat completions or responses, or of Anthropic's messages. */
function isChunk(value: unknown): boolean {
  const { choices, object, type } = toObject(value) ?? {};
  if (object === 'chat.completion.chunk') return true;
  if (toList(choices).some((choice) => toObject(choice)?.delta !== undefined)) return true;
  return (
    typeof type === 'string' && /^(?:response\.|message_start$|message_delta$|content_block_)/.test(type)
  );
}

/** Joins the parts of a streamed reply, as far as its tool calls and tokens go; returns any other reply unchanged. */
function joinChunks(response: JsonObject): JsonObject {
  if (!Array.isArray(response.events)) return response;
  const blocks = new Map<string, { id: unknown; name: unknown; input: string }>();
  const usage: Record<string, JsonValue> = {};
  let ended: JsonObject | undefined;
  const addPart = (key: string, { id, name, input }: { id?: unknown; name?: unknown; input?: unknown }) => {
    const block = blocks.get(key) ?? { id: undefined, name: undefined, input: '' };
    blocks.set(key, block);
    block.id ??= id;
    block.name ??= name;
    if (typeof input === 'string') block.input += input;
  };
  for (const item of response.events) {
    const event = toObject(item) ?? {};
    Object.assign(usage, toObject(event.usage), toObject(toObject(event.message)?.usage));
    ended = toObject(event.response)?.output === undefined ? ended : toObject(event.response);
    const { content_block, delta, index } = event;
    const { id, name } = toObject(content_block) ?? {};
    if (toText(name) !== undefined) addPart(`block ${index}`, { id, name });
    const json = toObject(delta)?.partial_json;
    if (json !== undefined) addPart(`block ${index}`, { input: json });
    for (const choice of toList(event.choices)) {
      for (const call of toList(toObject(toObject(choice)?.delta)?.tool_calls)) {
        const { id: callId, index: at, function: named } = toObject(call) ?? {};
        const { name: called, arguments: input } = toObject(named) ?? {};
        addPart(`call ${at ?? callId ?? ''}`, { id: callId, name: called, input });
      }
    }
  }
  if (ended !== undefined) return ended;
  const content = [...blocks.values()].flatMap(({ id, name, input }): JsonValue[] => {
    const [known, named] = [toText(id), toText(name)];
    if (known === undefined || named === undefined) return [];
    const value = toObject(unpackJson(input === '' ? '{}' : input)) ?? { text: input };
    return [{ type: 'tool_use', id: known, name: named, input: value }];
  });
  return { content, usage };
}

function parseList(text: string): unknown {
  const value = unpackJson(text);
  return Array.isArray(value) ? value : undefined;
}

/** Returns the data of a text of events, parsed if it is JSON. */
function parseEventData(text: string): unknown[] {
  const data = parseServerEvents(text).map((event) => event.data);
  return data.filter((each) => each !== '' && each !== '[DONE]').map(unpackJson);
}

/** A conversation, with the messages of its last request. */
interface Begun {
  readonly task: string;
  said: readonly string[];
}

/** Maximum conversations with the same first words that are compared with a request. */
const MAX_ALIKE = 100;

/**
 * Finds the conversation that a request continues: its messages begin with those of the last request. A request that a program
 * has shortened continues the only conversation that began like it; one without a reply in it begins another.
 */
function findContinued(begun: readonly Begun[], said: readonly string[]): Begun | undefined {
  const continued = begun.findLast(
    (each) => each.said.length < said.length && each.said.every((message, index) => message === said[index]),
  );
  if (continued !== undefined) return continued;
  const hasReply =
    said.length > 1 && said.some((message) => !/"role":"(?:system|developer|user)"/.test(message));
  return hasReply && begun.length === 1 ? begun[0] : undefined;
}

/** Assigns exchanges to conversations, and keeps tool calls that wait for their results. */
class Conversations {
  readonly #tasks = new Map<string, string>();
  readonly #calls = new Map<string, { readonly call: ToolCall; readonly reply: ImportedMessage }>();
  /** Conversations that began with the same words of the user, by these words. */
  readonly #begun = new Map<string, Begun[]>();
  #count = 0;
  readonly #notes: ImportNotes;

  constructor(notes: ImportNotes) {
    this.#notes = notes;
  }

  *add({ request, response, atUs, endUs, line }: Exchange): Generator<ImportedMessage> {
    const notes = this.#notes;
    const from = findText(line, CLIENT_KEYS) ?? 'client';
    if (from === 'client') notes.guess('senders of requests, called "client"');
    const to = toText(request.model) ?? 'model';
    const task = this.#taskOf(request, line);
    for (const { id, result } of readToolResults(request)) {
      // Servers count calls from the same number in every conversation.
      const key = JSON.stringify([task, id]);
      const asked = this.#calls.get(key);
      if (asked === undefined) continue;
      this.#calls.delete(key);
      const tool = `tool:${asked.call.name}`;
      const call: ImportedMessage = {
        from,
        to: tool,
        task,
        type: 'tool.call',
        payload: asked.call.input,
        atUs: asked.reply.atUs,
      };
      yield call;
      yield { from: tool, to: from, task, type: 'tool.result', payload: result, atUs, answers: call };
      notes.guess(
        'times of tool calls, taken from the replies that asked for them to the requests that brought their results',
      );
    }
    const type = detectApi(request, line);
    const asked: ImportedMessage = { from, to, task, type, payload: request, atUs };
    yield asked;
    if (response === undefined) {
      notes.drop('replies that the log does not have');
      return;
    }
    if (atUs !== undefined && endUs === undefined) {
      notes.guess('times of replies, taken as those of their requests');
    }
    const whole = joinChunks(response);
    const usage = toObject(whole.usage) ?? {};
    const tokens =
      toCount(usage.total_tokens) ??
      (toCount(usage.input_tokens ?? usage.prompt_tokens) ?? 0) +
        (toCount(usage.output_tokens ?? usage.completion_tokens) ?? 0);
    const reply: ImportedMessage = {
      from: to,
      to: from,
      task,
      type: `${type}.result`,
      payload: response,
      atUs: endUs ?? atUs,
      answers: asked,
      tokens,
    };
    yield reply;
    for (const call of readToolCalls(whole))
      this.#calls.set(JSON.stringify([task, call.id]), { call, reply });
    const id = toText(response.id);
    if (id !== undefined) this.#tasks.set(`response ${id}`, task);
  }

  /** Returns the task given in the log. Otherwise requests that begin with the same user message are one conversation. */
  #taskOf(request: JsonObject, line: JsonObject): string {
    const named = findText(line, TASK_KEYS);
    if (named !== undefined) return named;
    const previous = this.#tasks.get(`response ${toText(request.previous_response_id) ?? ''}`);
    if (previous !== undefined) return previous;
    const items = [...toList(request.messages), ...toList(request.input)];
    const first =
      items.find((item) => toObject(item)?.role === 'user') ?? request.input ?? request.prompt ?? '';
    const begun = this.#begun.get(JSON.stringify(first)) ?? [];
    this.#begun.set(JSON.stringify(first), begun);
    const said = items.map((item) => JSON.stringify(item));
    const known = findContinued(begun, said);
    if (known === undefined) this.#count += 1;
    const task = known?.task ?? `conversation-${this.#count}`;
    if (known === undefined) begun.push({ task, said });
    else known.said = said;
    if (begun.length > MAX_ALIKE) begun.shift();
    this.#notes.guess(
      'conversations of requests, taken as those of requests with the same first words of the user',
    );
    return task;
  }
}

/** Returns `chat.completions`, `responses` or `messages`, by the log's path or the request's form. */
function detectApi(request: JsonObject, line: JsonObject): string {
  const path = findText(line, ['path', 'url', 'endpoint']) ?? '';
  if (/\/responses\b/.test(path) || request.input !== undefined) return 'responses';
  if (/\/messages\b/.test(path)) return 'messages';
  if (/\/chat\/completions\b/.test(path)) return 'chat.completions';
  return request.messages === undefined ? 'completions' : 'chat';
}

function isAssistant(message: unknown): boolean {
  return toObject(message)?.role === 'assistant';
}

/** Imports a conversation that was written down for training or for people. */
function* readConversation(
  { request, line, atUs }: Exchange,
  { where }: SourceValue,
  notes: ImportNotes,
): Generator<ImportedMessage> {
  const task = findText(line, [...TASK_KEYS, 'id']) ?? where.replace(' ', '-');
  const model = toText(request.model) ?? 'assistant';
  const calls = new Map<string, ImportedMessage>();
  let asker: ImportedMessage | undefined;
  for (const item of toList(request.messages)) {
    const message = toObject(item);
    if (message === undefined) continue;
    const at = findTimeUs(message) ?? atUs;
    const said = { task, atUs: at };
    if (message.role === 'tool') {
      const call = calls.get(toText(message.tool_call_id) ?? '');
      const from = call?.to ?? `tool:${toText(message.name) ?? 'unknown'}`;
      yield {
        ...said,
        from,
        to: model,
        type: 'tool.result',
        payload: { content: message.content ?? null },
        answers: call,
      };
    } else if (message.role === 'assistant') {
      yield { ...said, from: model, to: 'user', type: 'assistant', payload: message, answers: asker };
      asker = undefined;
      for (const { id, name, input } of readToolCalls({ choices: [{ message }] })) {
        const call = { ...said, from: model, to: `tool:${name}`, type: 'tool.call', payload: input };
        calls.set(id, call);
        yield call;
      }
    } else {
      const role = toText(message.role) ?? 'user';
      asker = { ...said, from: 'user', to: model, type: role, payload: { content: message.content ?? null } };
      yield asker;
    }
  }
  notes.guess('recipients in conversations, taken as user, model and tools in turn');
}
