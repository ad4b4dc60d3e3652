import {
  FINAL_ANSWER,
  isJsonList,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  TASK_FAILED,
} from '@gaia-mesh/core/contracts/packet.ts';
import type { RecordedPacket } from '@gaia-mesh/core/recording/recording.ts';
import { legacy } from '@gaia-mesh/stacks/a2a/bare/legacy.ts';
import { readForeignUpdate } from '@gaia-mesh/stacks/a2a/foreign/agent-reply.ts';
import { isSettled } from '@gaia-mesh/stacks/a2a/model.ts';
import type { Answer, AskRequest } from './ask.ts';
import type { RecordedExchange } from './recorded-replies.ts';

/** Recorded replies: payloads of packets, and the milliseconds after the request at which each came. */
type Replies = readonly {
  readonly type: string;
  readonly payload: JsonObject;
  readonly afterMs: number;
}[];

/** Names of requests that are not methods of MCP: a question of a task, and a message of A2A by any of its methods. */
const ASK = 'ask';
export const SEND = 'SendMessage';
/** Methods of MCP, beside those of tools, that are answered from a recording. */
const OTHER_METHOD = /^(?:resources|prompts|completion)\//;
const SEND_METHODS = new Set(['SendMessage', 'SendStreamingMessage', 'message/send', 'message/stream']);
const GET_METHODS = new Set(['GetTask', 'SubscribeToTask', 'tasks/get', 'tasks/resubscribe']);

/** Lists what was asked in a recording, and what was replied. */
export function listRecorded(packets: readonly RecordedPacket[]) {
  return { exchanges: listExchanges(packets), questions: listQuestions(packets) };
}

/** Lists the requests that have replies: of MCP, of A2A, and calls of tools. */
function listExchanges(packets: readonly RecordedPacket[]): RecordedExchange<Replies>[] {
  const replies = Map.groupBy(packets, ({ packet }) => packet.reply_to);
  const later = listTaskReplies(packets, replies);
  return packets.flatMap(({ packet }): RecordedExchange<Replies>[] => {
    const own = replies.get(packet.id) ?? [];
    const named = nameRequest(packet.type, packet.to ?? '', packet.payload);
    if (own.length === 0 || named === undefined) return [];
    const followed = named.what === SEND ? [...own, ...followTask(own, later)] : own;
    const reply = followed.map(({ packet: { type, payload, ts } }) => ({
      type: named.isCall ? `${type}.result` : type,
      payload: named.isCall ? toToolResult(payload) : payload,
      afterMs: packet.ts === 0 || ts === 0 ? 0 : Math.max(0, ts - packet.ts),
    }));
    const { what, request } = named;
    return [{ what, request, reply, where: `the request ${packet.id} of ${packet.task_id.slice(0, 64)}` }];
  });
}

function nameRequest(
  type: string,
  to: string,
  payload: JsonObject,
): (NamedRequest & { readonly isCall?: boolean }) | undefined {
  if (type === 'tools/call' && typeof payload.name === 'string')
    return { what: `tools/call ${payload.name}`, request: payload.arguments ?? {} };
  // Logs of chats and sessions name no server of a tool: the tool itself is the recipient.
  if (type === 'tool.call')
    return {
      what: `tools/call ${to
        .replace(/^tool:/, '')
        .replaceAll(/[^\w./-]/g, '_')
        .slice(0, 128)}`,
      request: isJsonObject(payload) ? payload : {},
      isCall: true,
    };
  if (SEND_METHODS.has(type)) {
    const call = legacy.readCall(type, payload, undefined);
    const { message } = Object(call?.params ?? payload);
    return toMessageRequest(message);
  }
  return OTHER_METHOD.test(type) ? { what: type, request: payload } : undefined;
}

/** Lists the later replies about each task, which answer requests for its state. */
function listTaskReplies(
  packets: readonly RecordedPacket[],
  replies: ReadonlyMap<string | undefined, readonly RecordedPacket[]>,
): ReadonlyMap<JsonValue | undefined, readonly RecordedPacket[]> {
  const asked = packets.filter(({ packet }) => GET_METHODS.has(packet.type));
  const byTask = Map.groupBy(asked, ({ packet }) => packet.payload.id);
  return new Map(
    [...byTask].map(([id, requests]) => [id, requests.flatMap(({ packet }) => replies.get(packet.id) ?? [])]),
  );
}

/** Returns the later replies about a task that had not ended when its message was answered, up to the one that ends it. */
function followTask(
  own: readonly RecordedPacket[],
  later: ReadonlyMap<JsonValue | undefined, readonly RecordedPacket[]>,
): RecordedPacket[] {
  const [first] = own.flatMap(({ packet }) => readTask(packet.payload) ?? []);
  const last = own.flatMap(({ packet }) => readTask(packet.payload) ?? []).at(-1);
  if (first === undefined || last === undefined || isSettled(last.state)) return [];
  const followed: RecordedPacket[] = [];
  for (const reply of later.get(first.id) ?? []) {
    followed.push({ ...reply, packet: { ...reply.packet, payload: wrapTask(reply.packet.payload) } });
    if (isSettled(readTask(wrapTask(reply.packet.payload))?.state ?? '')) break;
  }
  return followed;
}

/** Wraps the bare task with which `GetTask` answers, as other replies contain it. */
function wrapTask(payload: JsonObject): JsonObject {
  return payload.id !== undefined && payload.status !== undefined && payload.kind === undefined
    ? { task: payload }
    : payload;
}

/** Returns id and state of the task that an answer of A2A is about. */
function readTask(payload: JsonObject): { readonly id: string; readonly state: string } | undefined {
  try {
    const update = readForeignUpdate(payload, []);
    if ('task' in update) return { id: update.task.id, state: update.task.status.state };
    if ('statusUpdate' in update)
      return { id: update.statusUpdate.taskId, state: update.statusUpdate.status.state };
    return undefined;
  } catch {
    return undefined; // It is an error, or a list.
  }
}

/** A request in the form in which it is compared with recorded ones. */
interface NamedRequest {
  readonly what: string;
  readonly request: JsonValue;
}

/** Names a message of A2A by its content: parts and metadata, without empty members. */
export function toMessageRequest(message: unknown): NamedRequest {
  const { parts = [], metadata = {} } = JSON.parse(JSON.stringify(message ?? {}));
  return { what: SEND, request: omitEmpty({ parts, metadata }) };
}

/** Names a question. Documents are compared without their white space, since they are recorded in pieces. */
export function toQuestionRequest({ question, document }: AskRequest): NamedRequest {
  if (document === undefined) return { what: ASK, request: { question } };
  return { what: ASK, request: { question, document: document.replaceAll(/\s+/g, ' ').trim() } };
}

function omitEmpty(value: JsonValue): JsonValue {
  if (isJsonList(value)) return value.map(omitEmpty);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]): [string, JsonValue][] => {
      const kept = omitEmpty(member);
      const isEmpty = kept === '' || kept === null || (isJsonObject(kept) && Object.keys(kept).length === 0);
      return isEmpty ? [] : [[key, kept]];
    }),
  );
}

/** Returns the recorded result of a tool in MCP's form. */
function toToolResult(payload: JsonObject): JsonObject {
  const { content, is_error, output } = payload;
  const said = content ?? output ?? payload;
  const isBlocks = isJsonList(said) && said.every((block) => isJsonObject(block) && block.type === 'text');
  const text = typeof said === 'string' ? said : JSON.stringify(said);
  return { content: isBlocks ? said : [{ type: 'text', text }], isError: is_error === true };
}

/** Lists the questions of tasks with their answers. */
function listQuestions(packets: readonly RecordedPacket[]): RecordedExchange<Answer>[] {
  const tasks = Map.groupBy(packets, ({ packet }) => packet.task_id);
  return [...tasks].flatMap(([task_id, all]): RecordedExchange<Answer>[] => {
    const [opening] = all;
    const end = all.find(({ packet: { tag } }) => tag === FINAL_ANSWER || tag === TASK_FAILED);
    const { question, chunks } = opening?.packet.payload ?? {};
    if (opening === undefined || end === undefined || typeof question !== 'string') return [];
    const { payload, tag, ts } = end.packet;
    const isAnswered = tag === FINAL_ANSWER;
    const said = isAnswered ? payload.answer : payload.message;
    const text = typeof said === 'string' ? said : said === undefined ? '' : JSON.stringify(said);
    const elapsedMs =
      opening.relayed === undefined || end.relayed === undefined
        ? ts - opening.packet.ts
        : (end.relayed.arrived_us - opening.relayed.arrived_us) / 1000;
    const answer: Answer = {
      answer: isAnswered ? text : null,
      status: isAnswered ? 'answered' : 'failed',
      reason: isAnswered ? undefined : text,
      task_id,
      elapsed_ms: Math.max(0, elapsedMs),
      packets: all.length,
      bytes: all.reduce((sum, { relayed }) => sum + (relayed?.bytes ?? 0), 0),
      tokens: all.reduce((sum, { packet }) => sum + packet.token_used, 0),
      model_calls: 0,
      cost_usd: null,
    };
    const document = isJsonList(chunks) ? chunks.join('\n\n') : undefined;
    const where = `the question of ${task_id}`;
    const exchange = (asked: AskRequest) => ({ ...toQuestionRequest(asked), reply: answer, where });
    // A client that leaves the document out asks about the recorded one.
    return [exchange({ question }), ...(document === undefined ? [] : [exchange({ question, document })])];
  });
}
