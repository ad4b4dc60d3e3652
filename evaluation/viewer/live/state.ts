import type { RunEvent } from '@gaia-mesh/core/run/run-event.ts';
import type { ShownPacket } from '../../report/page-data.ts';
import { describeTrouble } from '../../terminal/trouble.ts';
import type { Answer, QuestionRow } from '../questions.tsx';
import type { AgentRow } from '../run/agents.tsx';

type TaskEnd = RunEvent<'task_ended'>;

/** A loss, a fault or a notice, in words, and when it came. */
interface News {
  readonly at: number;
  readonly text: string;
}

/** Maximum samples of an arm from which its median is computed. */
const MAX_SAMPLES = 1000;
/** Maximum packets that are drawn and listed; the archive will have all. */
const MAX_PACKETS = 5000;
const DROPPED_AT_ONCE = 1000;
const MAX_NEWS = 120;

/** The state of a running command, built from its events. */
export class LiveState {
  /** Milliseconds since the first event. */
  at = 0;
  run: RunEvent<'run_began'> | null = null;
  /** The last packets. Their causes and the times of tools are not known before the end of the run. */
  packets: ShownPacket[] = [];
  agents = new Map<string, AgentRow>();
  /** The beginnings of the questions, and their ends so far. */
  questions = new Map<string, { readonly text: string; readonly end: Partial<TaskEnd> | null }>();
  totals = { packets: 0, bytes: 0, tokens: 0, unshown: 0 };
  faults = new Map<string, number>();
  arms = new Map<string, { count: number; ms: number[]; bytes: number | null }>();
  /** The workers of a queued batch; null if this command runs the agents itself. */
  workers: RunEvent<'workers'>['workers'] | null = null;
  progress: { readonly share: number; readonly text: string } | null = null;
  end: string | null = null;
  /** Losses, faults and notices, the latest first. */
  news: News[] = [];
  /** Number of events that the page missed, because it was too slow or was opened late. */
  missed = 0;
  #last = 0;
  #startMs: number | undefined;
  #runMs = 0;

  /** Milliseconds since the current run began. */
  get runMs(): number {
    return this.at - this.#runMs;
  }

  add(events: readonly RunEvent[]): void {
    for (const event of events) {
      const { n = 0 } = event;
      if (n <= this.#last) continue;
      this.missed += n - this.#last - 1;
      this.#last = n;
      this.#startMs ??= event.time;
      this.at = Math.max(0, event.time - this.#startMs);
      this.#advance(event);
      const text = event.event === 'note' ? event.text : describeTrouble(event);
      if (text !== undefined) this.news = [{ at: this.at, text }, ...this.news.slice(0, MAX_NEWS - 1)];
    }
  }

  #advance(event: RunEvent): void {
    switch (event.event) {
      case 'run_began':
        this.#begin(event);
        break;
      case 'agent_up':
        this.#setAgent(event.id, { tool: event.tool, status: 'up', fault: null });
        break;
      case 'agent_lost':
        this.#setAgent(event.id, { tool: event.tool, status: 'gone', fault: event.reason });
        break;
      case 'agent_died':
        this.#setAgent(event.id, { tool: event.tool, status: 'gone', fault: event.how });
        break;
      case 'broadcast':
      case 'packet':
        this.packets.push({ ...event, atMs: this.runMs });
        if (this.packets.length > MAX_PACKETS) this.packets.splice(0, DROPPED_AT_ONCE);
        break;
      case 'task_began':
        this.questions.set(event.task_id, { text: event.question, end: null });
        break;
      case 'task_ended':
        this.#endTask(event);
        break;
      case 'totals': {
        const { packets, bytes, tokens, unshown } = event;
        this.totals = { packets, bytes, tokens, unshown };
        for (const [id, counts] of Object.entries(event.agents))
          this.#setAgent(id, {
            packets_rx: counts.packets,
            bytes_rx: counts.bytes,
            tokens: counts.tokens,
            // An agent that this run did not start counts as up once it has sent a packet.
            ...(this.agents.get(id)?.status === 'starting' ? { status: 'up' } : {}),
          });
        this.faults = new Map(Object.entries(event.faults));
        break;
      }
      case 'sample': {
        const arm = this.arms.get(event.arm) ?? { count: 0, ms: [], bytes: null };
        arm.count += 1;
        arm.bytes = event.bytes ?? arm.bytes;
        if (event.ms !== null && arm.ms.length < MAX_SAMPLES) arm.ms.push(event.ms);
        this.arms.set(event.arm, arm);
        break;
      }
      case 'workers':
        this.workers = event.workers;
        break;
      case 'progress':
        this.progress = event;
        break;
      case 'stream_ended':
        this.end = event.text;
        break;
      default:
    }
  }

  /** Begins another run, and drops the state of the one before, which has written its results. */
  #begin(event: RunEvent<'run_began'>): void {
    this.run = event;
    this.#runMs = this.at;
    this.packets = [];
    this.agents = new Map();
    this.questions = new Map();
    this.totals = { packets: 0, bytes: 0, tokens: 0, unshown: 0 };
    this.faults = new Map();
    for (const { id, tool } of event.agents) this.#setAgent(id, { tool, status: 'starting' });
  }

  #setAgent(id: string, known: Partial<AgentRow>): void {
    const unknown = { tool: '', status: 'up', packets_rx: 0, bytes_rx: 0, tokens: 0 };
    this.agents.set(id, { ...unknown, id, ...this.agents.get(id), ...known });
  }

  /** Notes the end of a question. A second end, with the verdict of a scorer, is merged into the first. */
  #endTask(event: TaskEnd): void {
    const before = this.questions.get(event.task_id);
    const known = Object.fromEntries(Object.entries(event).filter(([, value]) => value !== undefined));
    this.questions.delete(event.task_id);
    this.questions.set(event.task_id, {
      text: event.question ?? before?.text ?? '',
      end: { ...before?.end, ...known },
    });
  }

  /** Lists the questions, the latest first. */
  listQuestions(): QuestionRow[] {
    return [...this.questions]
      .map(([id, { text, end }]) => ({ id, question: text, truth: null, answers: [toAnswer(end ?? {})] }))
      .reverse();
  }

  /** Sums the costs of models: null if a price is not known, undefined if no model was asked. */
  sumCosts(): number | null | undefined {
    const costs = [...this.questions.values()].flatMap(
      ({ end }) => end?.cost_usd ?? (end?.cost_usd === null ? [null] : []),
    );
    if (costs.length === 0) return undefined;
    return costs.includes(null) ? null : costs.reduce((sum: number, cost) => sum + (cost ?? 0), 0);
  }
}

function toAnswer({ status, answer, reason, ...end }: Partial<TaskEnd>): Answer {
  const score = end.correct ?? end.normalized_em ?? null;
  const { token_sum: tokens = null, elapsed_ms: ms, cost_usd: cost = null, cached } = end;
  return {
    status,
    reason,
    cached,
    final_answer: answer ?? null,
    correct: score === null ? null : score === 1,
    use: ms === undefined ? undefined : { tokens, cost, packets: null, bytes: null, seconds: ms / 1000 },
  };
}
