import type { JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import type { DeliveryEvent } from '@gaia-mesh/core/hub/delivery/faulty.ts';
import type { TaskOutcome } from '@gaia-mesh/core/hub/tasks/task-clock.ts';
import type { RunObserver } from '@gaia-mesh/core/run/run-options.ts';
import type { BatchEvent } from '../batch/batch.ts';
import { toAttemptId } from '../questions/question.ts';
import type { GaiaResult } from '../results/gaia-result.ts';
import { toOneLine } from '../terminal/table.ts';
import type { EventFeed } from './event-feed.ts';
import type { NewEvent } from './watch-event.ts';

/** Maximum characters of a text in an event, which suits a list; details have the whole text. */
const MAX_TEXT = 300;
const MAX_NAME = 80;
/** Maximum agents named at the start of a run. */
const MAX_AGENTS = 256;

export function cutText(text: string): string {
  return toOneLine(text, MAX_TEXT);
}

export function cutName(name: string): string {
  return toOneLine(name, MAX_NAME);
}

/** Creates the event that begins a run. Only names that do not identify anything are cut. */
export function createRunEvent({
  run,
  team,
  adapter,
  engine,
  agents,
  questions,
}: Omit<NewEvent<'run'>, 'kind' | 'agents'> & {
  readonly agents: readonly { readonly id: string; readonly tool: string }[];
}): NewEvent {
  return {
    kind: 'run',
    run,
    team: cutName(team),
    adapter: cutName(adapter),
    engine: cutName(engine),
    agents: agents.slice(0, MAX_AGENTS).map(({ id, tool }) => ({ id, tool: cutName(tool) })),
    questions,
  };
}

/** Creates an observer that sends the events of a run to a feed. */
export function createRunFeed(feed: EventFeed, questions: number | null): RunObserver {
  return {
    began: ({ runId, ...about }) => feed.add(createRunEvent({ run: runId, ...about, questions })),
    agentUp: ({ id, where, pid }) => {
      const text = `${where}${pid === undefined ? '' : `, process ${pid}`}`;
      feed.add({ kind: 'agent', id, state: 'up', text });
    },
    agentLost({ id, tool }, reason) {
      feed.add({ kind: 'agent', id, state: 'lost', text: cutText(reason) });
      feed.fault('lost', () => cutText(`agent ${id} (${tool}) is gone: ${reason}`));
    },
    relayed: (batch) => feed.relayed(batch),
    broadcast({ payload, ...head }, _times, bytes, recipients) {
      feed.add(createAskedEvent(head.task_id, payload.question));
      feed.packet(head, bytes, recipients);
    },
    refused: (node, reason) => feed.fault('refused', () => cutText(`from ${node}: ${reason}`)),
    taskEnded: (outcome, { scores, models }) => {
      const right = scores.correct ?? scores.normalized_em ?? null;
      feed.add(createEndedEvent(outcome, right === null ? null : right === 1, models?.cost_usd));
    },
    faultEvent: (news) => feed.fault('fault', () => cutText(news)),
    deliveryFault: (event) => feed.fault(event.kind, () => formatDelivery(event)),
  };
}

/** Creates a listener that sends a batch's results to a feed: answers from the cache, and the verdicts of the batch's scorer. */
export function createBatchFeed(feed: EventFeed): (event: BatchEvent) => void {
  return (event) => {
    if (event.kind !== 'finished') return;
    feed.add(createResultEvent(event.result));
  };
}

export function createAskedEvent(id: string, question: JsonValue | undefined): NewEvent {
  const text = typeof question === 'string' ? cutText(question) : undefined;
  return { kind: 'question', id, state: 'asked', text };
}

export function createEndedEvent(
  {
    taskId,
    status,
    answer,
    reason,
    elapsedMs,
    counts,
  }: Pick<TaskOutcome, 'taskId' | 'status' | 'answer' | 'reason' | 'elapsedMs'> & {
    readonly counts: { readonly token_sum: number };
  },
  correct: boolean | null,
  cost: number | null | undefined,
): NewEvent {
  return {
    kind: 'question',
    id: taskId,
    state: status,
    correct,
    seconds: elapsedMs / 1000,
    tokens: counts.token_sum,
    answer: answer === null ? undefined : cutText(answer),
    reason: reason === undefined ? undefined : cutText(reason),
    cost,
  };
}

/** Creates the event of a batch's result. */
export function createResultEvent(result: GaiaResult): NewEvent<'question'> {
  const { task_id, cycle, status, final_answer, correct, seconds, tokens, cost, reason, cached } = result;
  return {
    kind: 'question',
    id: toAttemptId(task_id, cycle),
    state: status,
    correct,
    seconds,
    tokens,
    cost,
    answer: status === 'answered' ? cutText(final_answer) : undefined,
    reason: reason === undefined ? undefined : cutText(reason),
    cached: cached || undefined,
  };
}

function formatDelivery({ kind, from, to, packet, delayMs }: DeliveryEvent): string {
  const delay = delayMs === undefined ? '' : ` by ${Math.round(delayMs)} ms`;
  return cutText(`${kind}${delay}: ${packet.type} ${packet.id} from ${from} to ${to}`);
}
