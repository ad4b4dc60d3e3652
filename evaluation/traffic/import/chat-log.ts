import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { findText, findTimeUs, toCount, toList, toObject, toText, unpackJson } from '../loose-values.ts';
import type { ImportedMessage, Importer, ImportNotes, SourceValue } from '../message.ts';
import {
  isRequest,
  isResponse,
  readBlocks,
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
export const importChatLog: Importer = (values, notes) => {
  const messages: ImportedMessage[] = [];
  const conversations = new Conversations(notes);
  for (const source of values) {
    const exchange = findExchange(source);
    if (exchange === undefined) {
      notes.drop('a line without a request to a model', '# lines without a request to a model', source.where);
    } else if (exchange.response === undefined && toList(exchange.request.messages).some(isAssistant)) {
      messages.push(...readConversation(exchange, source, notes));
    } else messages.push(...conversations.add(exchange, notes));
  }
  return messages;
};

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

/** Parses the events of a stream that was logged as text. */
function parseStream(line: JsonObject): JsonObject | undefined {
  for (const value of [line.response, line.response_body, toObject(line.response)?.body, line.output]) {
    if (typeof value === 'string' && /^(?:event|data):/m.test(value))
      return toObject({ events: parseSseEvents(value) });
  }
  return undefined;
}

/** Returns the data of server-sent events (WHATWG HTML, 9.2), parsed if it is JSON. */
function parseSseEvents(text: string): unknown[] {
  return text
    .split(/\r?\n\r?\n/)
    .map((event) => [...event.matchAll(/^data: ?(.*)$/gm)].map(([, data = '']) => data).join('\n'))
    .filter((data) => data !== '' && data !== '[DONE]')
    .map(unpackJson);
}

/** Assigns exchanges to conversations, and keeps tool calls that wait for their results. */
class Conversations {
  readonly #tasks = new Map<string, string>();
  readonly #calls = new Map<string, { readonly call: ToolCall; readonly reply: ImportedMessage }>();
  readonly #notes: ImportNotes;

  constructor(notes: ImportNotes) {
    this.#notes = notes;
  }

  *add({ request, response, atUs, endUs, line }: Exchange, notes: ImportNotes): Generator<ImportedMessage> {
    const from = findText(line, CLIENT_KEYS) ?? 'client';
    if (from === 'client') notes.guess('sender of a request: "client"', 'senders of # requests: "client"');
    const to = toText(request.model) ?? 'model';
    const task = this.#taskOf(request, line);
    for (const { id, result } of readToolResults(request)) {
      const asked = this.#calls.get(id);
      if (asked === undefined) continue;
      this.#calls.delete(id);
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
        'time of a tool call: from the reply that asked for it to the request that brought its result',
        'times of # tool calls: from the replies that asked for them to the requests that brought their results',
      );
    }
    const type = detectApi(request, line);
    const asked: ImportedMessage = { from, to, task, type, payload: request, atUs };
    yield asked;
    if (response === undefined) {
      notes.drop(
        'a reply: the log has none for its request',
        '# replies: the log has none for their requests',
      );
      return;
    }
    if (atUs !== undefined && endUs === undefined) {
      notes.guess('time of a reply: that of its request', 'times of # replies: those of their requests');
    }
    const usage = toObject(response.usage) ?? {};
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
    for (const call of readToolCalls(response)) this.#calls.set(call.id, { call, reply });
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
    const key = `user ${JSON.stringify(first)}`;
    const task = this.#tasks.get(key) ?? `conversation-${this.#tasks.size + 1}`;
    this.#tasks.set(key, task);
    this.#notes.guess(
      'conversation of a request: that of requests with the same first words of the user',
      'conversations of # requests: those of requests with the same first words of the user',
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
      asker = { ...said, from: 'user', to: model, type: role, payload: { content: readBlocks(message) } };
      yield asker;
    }
  }
  notes.guess(
    'recipients in a conversation: user, model and tools in turn',
    'recipients in # conversations: user, model and tools in turn',
  );
}
