import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { countOf, firstText, listOf, objectOf, textOf, timeOf, unpacked } from '../loose-values.ts';
import type { ImportedMessage, Importer, ImportNotes, SourceValue } from '../message.ts';
import { blocksOf, isRequest, isResponse, type ToolCall, toolCallsOf, toolResultsOf } from './chat-shapes.ts';

/** A request to a model and its answer, as a line of a log has them. */
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
 * Logs of requests to models, a request and its response a line, wherever in the line they are: OpenAI's chat completions and responses
 * (and its batch files), Anthropic's messages, and what loggers and gateways write of them. Tool calls that a response asks for and
 * whose result a later request brings become packets between the client and its tool. A line that has only `messages` is a
 * conversation: each message goes from one to the next.
 */
export const importChatLog: Importer = (values, notes) => {
  const messages: ImportedMessage[] = [];
  const conversations = new Conversations(notes);
  for (const source of values) {
    const exchange = exchangeIn(source);
    if (exchange === undefined) {
      notes.drop('a line without a request to a model', '# lines without a request to a model', source.where);
    } else if (exchange.response === undefined && listOf(exchange.request.messages).some(isAssistant)) {
      messages.push(...conversation(exchange, source, notes));
    } else messages.push(...conversations.add(exchange, notes));
  }
  return messages;
};

function exchangeIn({ value }: SourceValue): Exchange | undefined {
  const line = objectOf(value);
  if (line === undefined) return undefined;
  const candidates = objectsIn(line, 0);
  const request = candidates.find(isRequest);
  if (request === undefined) return undefined;
  const response = candidates.find((object) => object !== request && isResponse(object)) ?? streamIn(line);
  const atUs = timeOf(line === request ? {} : line);
  const durationMs = countOf(line.duration_ms) ?? countOf(line.durationMs) ?? countOf(line.latency_ms);
  const lasted = atUs === undefined || durationMs === undefined ? undefined : atUs + durationMs * 1000;
  return { request, response, atUs, endUs: timeOf(line, END_KEYS) ?? lasted, line };
}

/** The object, and what is under its keys, to a small depth: bodies stand in requests, requests in lines. */
function objectsIn(object: JsonObject, depth: number): JsonObject[] {
  if (depth > 2) return [];
  if (depth > 0 && (isRequest(object) || isResponse(object))) return [object];
  const inner = Object.values(object).flatMap((value) =>
    objectsIn(objectOf(unpacked(value)) ?? {}, depth + 1),
  );
  return depth === 0 && (isRequest(object) || isResponse(object)) ? [object, ...inner] : inner;
}

/** The events of a stream that was logged as its text. */
function streamIn(line: JsonObject): JsonObject | undefined {
  for (const value of [line.response, line.response_body, objectOf(line.response)?.body, line.output]) {
    if (typeof value === 'string' && /^(?:event|data):/m.test(value))
      return objectOf({ events: sseEvents(value) });
  }
  return undefined;
}

/** The data of server-sent events (WHATWG HTML, 9.2), each as JSON where it is. */
function sseEvents(text: string): unknown[] {
  return text
    .split(/\r?\n\r?\n/)
    .map((event) => [...event.matchAll(/^data: ?(.*)$/gm)].map(([, data = '']) => data).join('\n'))
    .filter((data) => data !== '' && data !== '[DONE]')
    .map(unpacked);
}

/** Exchanges that belong together, and tool calls that wait for their results. */
class Conversations {
  readonly #tasks = new Map<string, string>();
  readonly #calls = new Map<string, { readonly call: ToolCall; readonly reply: ImportedMessage }>();
  readonly #notes: ImportNotes;

  constructor(notes: ImportNotes) {
    this.#notes = notes;
  }

  *add({ request, response, atUs, endUs, line }: Exchange, notes: ImportNotes): Generator<ImportedMessage> {
    const from = firstText(line, CLIENT_KEYS) ?? 'client';
    if (from === 'client') notes.guess('sender of a request: "client"', 'senders of # requests: "client"');
    const to = textOf(request.model) ?? 'model';
    const task = this.#taskOf(request, line);
    for (const { id, result } of toolResultsOf(request)) {
      const asked = this.#calls.get(id);
      if (asked === undefined) continue;
      this.#calls.delete(id);
      const tool = `tool:${asked.call.name}`;
      const call: ImportedMessage = {
        ...{ from, to: tool, task, type: 'tool.call', payload: asked.call.input, atUs: asked.reply.atUs },
      };
      yield call;
      yield { from: tool, to: from, task, type: 'tool.result', payload: result, atUs, answers: call };
      notes.guess(
        'time of a tool call: from the reply that asked for it to the request that brought its result',
        'times of # tool calls: from the replies that asked for them to the requests that brought their results',
      );
    }
    const type = apiOf(request, line);
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
    const usage = objectOf(response.usage) ?? {};
    const tokens =
      countOf(usage.total_tokens) ??
      (countOf(usage.input_tokens ?? usage.prompt_tokens) ?? 0) +
        (countOf(usage.output_tokens ?? usage.completion_tokens) ?? 0);
    const reply: ImportedMessage = {
      ...{ from: to, to: from, task, type: `${type}.result`, payload: response },
      ...{ atUs: endUs ?? atUs, answers: asked, tokens },
    };
    yield reply;
    for (const call of toolCallsOf(response)) this.#calls.set(call.id, { call, reply });
    const id = textOf(response.id);
    if (id !== undefined) this.#tasks.set(`response ${id}`, task);
  }

  /** As the log says; else requests that begin with the same words of the user are one conversation. */
  #taskOf(request: JsonObject, line: JsonObject): string {
    const named = firstText(line, TASK_KEYS);
    if (named !== undefined) return named;
    const previous = this.#tasks.get(`response ${textOf(request.previous_response_id) ?? ''}`);
    if (previous !== undefined) return previous;
    const items = [...listOf(request.messages), ...listOf(request.input)];
    const first =
      items.find((item) => objectOf(item)?.role === 'user') ?? request.input ?? request.prompt ?? '';
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

/** `chat.completions`, `responses` or `messages`, as the log's path or the request's form says. */
function apiOf(request: JsonObject, line: JsonObject): string {
  const path = firstText(line, ['path', 'url', 'endpoint']) ?? '';
  if (/\/responses\b/.test(path) || request.input !== undefined) return 'responses';
  if (/\/messages\b/.test(path)) return 'messages';
  if (/\/chat\/completions\b/.test(path)) return 'chat.completions';
  return request.messages === undefined ? 'completions' : 'chat';
}

function isAssistant(message: unknown): boolean {
  return objectOf(message)?.role === 'assistant';
}

/** A conversation as it is written down for training or for people. */
function* conversation(
  { request, line, atUs }: Exchange,
  { where }: SourceValue,
  notes: ImportNotes,
): Generator<ImportedMessage> {
  const task = firstText(line, [...TASK_KEYS, 'id']) ?? where.replace(' ', '-');
  const model = textOf(request.model) ?? 'assistant';
  const calls = new Map<string, ImportedMessage>();
  let asker: ImportedMessage | undefined;
  for (const item of listOf(request.messages)) {
    const message = objectOf(item);
    if (message === undefined) continue;
    const at = timeOf(message) ?? atUs;
    const said = { task, atUs: at };
    if (message.role === 'tool') {
      const call = calls.get(textOf(message.tool_call_id) ?? '');
      const from = call?.to ?? `tool:${textOf(message.name) ?? 'unknown'}`;
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
      for (const { id, name, input } of toolCallsOf({ choices: [{ message }] })) {
        const call = { ...said, from: model, to: `tool:${name}`, type: 'tool.call', payload: input };
        calls.set(id, call);
        yield call;
      }
    } else {
      const role = textOf(message.role) ?? 'user';
      asker = { ...said, from: 'user', to: model, type: role, payload: { content: blocksOf(message) } };
      yield asker;
    }
  }
  notes.guess(
    'recipients in a conversation: user, model and tools in turn',
    'recipients in # conversations: user, model and tools in turn',
  );
}
