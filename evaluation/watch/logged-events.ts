import { HUB_ID } from '@gaia-mesh/core/contracts/packet.ts';
import { tryParseJson } from '@gaia-mesh/core/system/json-line.ts';
import * as z from 'zod';
import type { EventFeed } from './event-feed.ts';
import { createAskedEvent, createEndedEvent, createRunEvent, cutName, cutText } from './run-events.ts';

/** Names of a log's run, and facts that the log itself lacks. */
export interface LoggedRun {
  readonly run_id: string;
  readonly team: string;
  readonly adapter: string;
  readonly engine: string;
  readonly status: string;
  readonly tasks: number | null;
  readonly questions: ReadonlyMap<string, string>;
  readonly costs: ReadonlyMap<string, number | null>;
}

const whole = z.int().nonnegative();
const text = z.string();
const head = {
  type: text,
  from: text,
  to: text.optional(),
  id: text,
  task_id: text,
  tag: text.optional(),
  token_used: whole,
  bytes: whole,
  recipients: whole,
};
const time = z.number();

/** Lines of a hub's log that become events. */
const lineSchema = z.discriminatedUnion('event', [
  z.object({ event: z.literal('agent_up'), time, id: text, tool: text, where: text, pid: whole.optional() }),
  z.object({ event: z.literal('agent_lost'), time, id: text, tool: text, reason: text }),
  z.object({ event: z.literal('agent_died'), time, id: text, tool: text, how: text }),
  z.object({ event: z.literal('broadcast'), time, ...head }),
  z.object({ event: z.literal('packet'), time, ...head }),
  z.object({ event: z.literal('refused'), time, from: text, reason: text }),
  z.object({
    event: z.literal('task_ended'),
    time,
    task_id: text,
    status: z.enum(['answered', 'timeout', 'failed']),
    answer: text.nullable(),
    reason: text.optional(),
    elapsed_ms: z.number().nonnegative(),
    token_sum: whole.default(0),
    correct: z.number().nullish(),
    normalized_em: z.number().nullish(),
  }),
  z.object({
    event: z.literal('fault'),
    time,
    kind: text,
    fault: text.optional(),
    from: text.optional(),
    to: text.optional(),
    id: text.optional(),
    type: text.optional(),
  }),
  z.object({ event: z.literal('undeliverable'), time, from: text, to: text, id: text, type: text }),
  z.object({ event: z.literal('fault_ended'), time, fault: text }),
  z.object({ event: z.literal('restart'), time, news: text }),
]);
type Line = z.infer<typeof lineSchema>;

/** Milliseconds of the log that one tick covers, so that all packets are sent individually. */
const TICK_MS = 100;
const PACKETS_A_TICK = 100;

/** Sends the events of a hub's log to a feed. Lines of other forms are skipped; the clock follows the log. */
export function feedLog(log: string, run: LoggedRun, feed: EventFeed, clock: { ms: number }): void {
  let beganMs: number | undefined;
  let tickedMs = 0;
  let packets = 0;
  const { run_id, team, adapter, engine, tasks: questions } = run;
  feed.add(
    createRunEvent({ run: cutName(run_id), team, adapter, engine, agents: listAgents(log), questions }),
  );
  for (const line of log.split('\n')) {
    const parsed = lineSchema.safeParse(tryParseJson(line));
    if (!parsed.success) continue;
    beganMs ??= parsed.data.time;
    // A clock that was set back does not reverse the order.
    clock.ms = Math.max(clock.ms, parsed.data.time - beganMs);
    packets += 1;
    if (clock.ms - tickedMs > TICK_MS || packets > PACKETS_A_TICK) {
      feed.tick();
      [tickedMs, packets] = [clock.ms, 0];
    }
    feedLine(parsed.data, run, feed);
  }
  feed.end(cutName(run.status));
}

function feedLine(line: Line, run: LoggedRun, feed: EventFeed): void {
  switch (line.event) {
    case 'agent_up': {
      const place = `${line.where}${line.pid === undefined ? '' : `, process ${line.pid}`}`;
      feed.add({ kind: 'agent', id: line.id, state: 'up', text: cutText(place) });
      break;
    }
    case 'agent_lost':
    case 'agent_died': {
      const why = line.event === 'agent_lost' ? line.reason : line.how;
      feed.add({ kind: 'agent', id: line.id, state: 'lost', text: cutText(why) });
      feed.fault('lost', () => cutText(`agent ${line.id} (${line.tool}) is gone: ${why}`));
      break;
    }
    case 'broadcast':
      feed.add(createAskedEvent(line.task_id, run.questions.get(line.task_id)));
      feed.packet({ ...line, from: HUB_ID }, line.bytes, line.recipients);
      break;
    case 'packet':
      feed.packet(line, line.bytes, line.recipients);
      break;
    case 'refused':
      feed.fault('refused', () => cutText(`from ${line.from}: ${line.reason}`));
      break;
    case 'task_ended': {
      const { task_id: taskId, elapsed_ms: elapsedMs, token_sum, ...ended } = line;
      const right = line.correct ?? line.normalized_em ?? null;
      const reason = ended.reason === undefined ? {} : { reason: ended.reason };
      const outcome = { taskId, status: ended.status, answer: ended.answer, ...reason, elapsedMs };
      const correct = right === null ? null : right === 1;
      feed.add(createEndedEvent({ ...outcome, counts: { token_sum } }, correct, run.costs.get(taskId)));
      break;
    }
    case 'fault':
      feed.fault(line.fault === undefined ? line.kind : 'fault', () =>
        cutText(line.fault ?? `${line.kind}: ${line.type} ${line.id} from ${line.from} to ${line.to}`),
      );
      break;
    case 'undeliverable':
      feed.fault(line.event, () =>
        cutText(`${line.event}: ${line.type} ${line.id} from ${line.from} to ${line.to}`),
      );
      break;
    case 'fault_ended':
      feed.fault('fault', () => cutText(`${line.fault} is over`));
      break;
    case 'restart':
      feed.fault('fault', () => cutText(line.news));
      break;
  }
}

function listAgents(log: string): { id: string; tool: string }[] {
  const agents = new Map<string, string>();
  for (const line of log.split('\n')) {
    if (!line.includes('"agent_up"')) continue;
    const parsed = lineSchema.safeParse(tryParseJson(line));
    if (parsed.success && parsed.data.event === 'agent_up') agents.set(parsed.data.id, parsed.data.tool);
  }
  return [...agents].map(([id, tool]) => ({ id, tool }));
}
