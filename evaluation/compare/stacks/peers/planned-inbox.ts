import { setTimeout as sleep } from 'node:timers/promises';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { HEAD_LENGTHS, type JsonValue, type Packet } from '@gaia-mesh/core/contracts/packet.ts';
import type { Inbox, InboxSource } from '@gaia-mesh/stacks/contract/stack.ts';
import * as z from 'zod';
import { exchangesSchema, type PlannedExchange } from './protocol.ts';

/** Separator between a recorded id and the number of the pass that repeats it. */
const PASS_MARK = '~~';

/** Creates a server's planned work: each packet is answered with the replies of its exchange. */
export function createPlannedInbox(exchanges: readonly PlannedExchange[], workMs: number) {
  const byId = new Map(exchanges.map((exchange) => [exchange.request.id, exchange]));
  let arrived = 0;
  let strangers = 0;
  const answer = async (packet: Packet, signal: AbortSignal) => {
    arrived += 1;
    const [id = '', pass = '0'] = packet.id.split(PASS_MARK);
    const exchange = byId.get(id);
    if (exchange === undefined) {
      strangers += 1;
      throw new MeshError('packet', `unexpected packet ${packet.id}: it is in no planned exchange`);
    }
    if (workMs > 0) await sleep(workMs, undefined, { signal });
    return numberExchange(exchange, Number(pass), packet.task_id).replies;
  };
  return {
    inbox: Object.assign(answer, { source: toInboxSource({ exchanges, workMs }) }),
    get arrived() {
      return arrived;
    },
    get strangers() {
      return strangers;
    },
  };
}

const planSchema = z.strictObject({ exchanges: exchangesSchema, workMs: z.number().nonnegative() });

function toInboxSource(plan: z.infer<typeof planSchema>): InboxSource {
  // JSON drops optional fields that are undefined, which `JsonValue` does not allow.
  const data: JsonValue = JSON.parse(JSON.stringify(plan));
  return { module: new URL('./planned-inbox.ts', import.meta.url).href, data };
}

/**
 * Creates the inbox of a server that runs in its own process: see {@link InboxSource}.
 *
 * @public by its name
 */
export function inboxOf(data: JsonValue): Inbox {
  const { exchanges, workMs } = planSchema.parse(data);
  return createPlannedInbox(exchanges, workMs).inbox;
}

/**
 * Returns number `nth` of the exchanges, which are repeated in passes, and the check of its answer.
 *
 * @throws MeshError `packet`, from the check, if the packets of an answer differ from the planned ones
 */
export function planExchange(exchanges: readonly PlannedExchange[], nth: number) {
  const planned = exchanges[nth % exchanges.length];
  if (planned === undefined) throw new Error('there are no exchanges');
  const pass = Math.floor(nth / exchanges.length);
  const { request, replies } = numberExchange(planned, pass, numberTask(planned.request, pass));
  const check = (came: readonly Packet[]) => checkReplies(replies, came, request.id);
  return { request, replies, check };
}

/**
 * Returns an exchange for a pass: as recorded in pass 0, with new ids in each further one.
 *
 * @param taskId task that its packets belong to
 */
function numberExchange(exchange: PlannedExchange, pass: number, taskId: string): PlannedExchange {
  const mark = pass === 0 ? '' : `${PASS_MARK}${pass}`;
  const { id } = exchange.request;
  const renamed = (packet: Packet): Packet => ({ ...packet, id: packet.id + mark, task_id: taskId });
  return {
    request: renamed(exchange.request),
    replies: exchange.replies.map((reply) => ({
      ...renamed(reply),
      ...(reply.reply_to === id ? { reply_to: id + mark } : {}),
    })),
  };
}

/** Returns the task id of a packet in a pass. */
function numberTask({ task_id }: Packet, pass: number): string {
  const mark = pass === 0 ? '' : `${PASS_MARK}${pass}`;
  return task_id.slice(0, HEAD_LENGTHS.task_id - mark.length) + mark;
}

/**
 * Renames packets so that one server can distinguish the exchanges, even when they are repeated: no id occurs twice (a broadcast packet is
 * the request of several), contains the mark of a pass, or is too long to take one.
 */
export function makePlayable(exchanges: readonly PlannedExchange[]): PlannedExchange[] {
  const taken = new Set<string>();
  const nameOf = (id: string) => {
    const isFit = !id.includes(PASS_MARK) && id.length <= HEAD_LENGTHS.id - 16;
    const base = isFit ? id : 'renamed';
    let name = base;
    for (let copy = 2; taken.has(name); copy++) name = `${base}.${copy}`;
    taken.add(name);
    return name;
  };
  return exchanges.map(({ request, replies }) => {
    const id = nameOf(request.id);
    const renamed = replies.map((reply) => ({
      ...reply,
      id: nameOf(reply.id),
      ...(reply.reply_to === request.id ? { reply_to: id } : {}),
    }));
    return { request: { ...request, id }, replies: renamed };
  });
}

/** @throws MeshError `packet` if the packets of an answer differ from the planned ones */
function checkReplies(expected: readonly Packet[], came: readonly Packet[], requestId: string): void {
  const wanted = expected.map(({ id }) => id).sort();
  const got = came.map(({ id }) => id).sort();
  if (wanted.length === got.length && wanted.every((id, index) => id === got[index])) return;
  throw new MeshError(
    'packet',
    `in answer to ${requestId}: expected ${formatIds(wanted)}, got ${formatIds(got)}`,
  );
}

function formatIds(ids: readonly string[]): string {
  return ids.length === 0 ? 'no packet' : ids.slice(0, 5).join(', ');
}
