import type { RunEvent } from '@gaia-mesh/core/run/run-event.ts';
import type { PacketColumns } from '../../report/run/run-data.ts';
import { describeTrouble } from '../../terminal/trouble.ts';
import { type AgentRow, type AnswerRow, judgeAnswer } from '../run/tables.tsx';

type PacketEvent = RunEvent<'packet' | 'broadcast'>;
type TaskEnd = RunEvent<'task_ended'>;

/** A question, with its end so far. */
interface Asked {
  readonly text: string;
  readonly end: Partial<TaskEnd> | null;
}

/** A loss, a fault or a notice, in words, and when it came. */
export interface News {
  readonly at: number;
  readonly text: string;
}

/** Maximum samples of an arm from which its median is computed. */
const MAX_SAMPLES = 1000;
/** Maximum packets that are drawn and listed; the archive will have all. */
const MAX_PACKETS = 5000;
const DROPPED_AT_ONCE = 1000;
const MAX_NEWS = 120;

/** The packets of a running command, in the form of those of a finished run, so that the same components draw them. */
class PacketList {
  /** Number of packets that are no longer in the lists. */
  dropped = 0;
  readonly tasks: string[] = [];
  readonly ids: string[] = [];
  readonly columns = {
    nodes: [{ id: 'hub', tool: '' }],
    types: [] as string[],
    task: [] as number[],
    type: [] as number[],
    from: [] as number[],
    to: [] as number[],
    at: [] as number[],
    bytes: [] as number[],
    tokens: [] as number[],
    final: [] as number[],
  };
  #startMs = 0;

  /** Returns the packets as a page shows them. Their causes and the times of tools are not known before the end of the run. */
  toColumns(): PacketColumns {
    const unknown = this.ids.map(() => 0);
    const cause = this.ids.map(() => -1);
    return { ...this.columns, isTimed: true, isDirect: true, cause, tool: unknown, afterTool: unknown };
  }

  add(event: PacketEvent): void {
    if (this.ids.length === 0) this.#startMs = event.time;
    const { columns } = this;
    columns.task.push(findPlace(this.tasks, event.task_id));
    columns.type.push(findPlace(columns.types, event.type));
    columns.from.push(this.findNode(event.from));
    columns.to.push(event.to === undefined ? -1 : this.findNode(event.to));
    columns.at.push(Math.round((event.time - this.#startMs) * 1000));
    columns.bytes.push(event.bytes);
    columns.tokens.push(event.token_used);
    if (event.tag === 'final_answer') columns.final.push(this.ids.length);
    this.ids.push(event.id);
    if (this.ids.length > MAX_PACKETS) this.#drop();
  }

  findNode(id: string, tool = ''): number {
    const { nodes } = this.columns;
    const known = nodes.findIndex((node) => node.id === id);
    if (known < 0) return nodes.push({ id, tool }) - 1;
    if (tool !== '') nodes[known] = { id, tool };
    return known;
  }

  #drop(): void {
    const { task, type, from, to, at, bytes, tokens, final } = this.columns;
    for (const list of [this.ids, task, type, from, to, at, bytes, tokens]) list.splice(0, DROPPED_AT_ONCE);
    this.columns.final = final.filter((packet) => packet >= DROPPED_AT_ONCE).map((n) => n - DROPPED_AT_ONCE);
    this.dropped += DROPPED_AT_ONCE;
  }
}

function findPlace(names: string[], name: string): number {
  const known = names.lastIndexOf(name);
  return known < 0 ? names.push(name) - 1 : known;
}

const NEW_AGENT: Omit<AgentRow, 'id'> = {
  tool: '',
  state: 'up',
  fault: null,
  packets: 0,
  bytes: 0,
  bytesReceived: null,
  tokens: 0,
  toolMs: null,
  refused: null,
};

/** The state of a running command, built from its events. */
export class LiveState {
  /** Milliseconds since the first event. */
  at = 0;
  run: RunEvent<'run_began'> | null = null;
  packets = new PacketList();
  agents = new Map<string, AgentRow>();
  questions = new Map<string, Asked>();
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
        this.#setAgent(event.id, { tool: event.tool, state: 'up', fault: null });
        break;
      case 'agent_lost':
        this.#setAgent(event.id, { tool: event.tool, state: 'gone', fault: event.reason });
        break;
      case 'agent_died':
        this.#setAgent(event.id, { tool: event.tool, state: 'gone', fault: event.how });
        break;
      case 'broadcast':
      case 'packet':
        this.packets.add(event);
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
        // An agent that this run did not start counts as up once it has sent a packet.
        for (const [id, counts] of Object.entries(event.agents))
          this.#setAgent(id, this.agents.get(id)?.state === 'starting' ? { ...counts, state: 'up' } : counts);
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
    this.packets = new PacketList();
    this.agents = new Map();
    this.questions = new Map();
    this.totals = { packets: 0, bytes: 0, tokens: 0, unshown: 0 };
    this.faults = new Map();
    for (const { id, tool } of event.agents) this.#setAgent(id, { tool, state: 'starting' });
  }

  #setAgent(id: string, known: Partial<AgentRow>): void {
    const agent = { ...NEW_AGENT, id, ...this.agents.get(id), ...known };
    this.agents.set(id, agent);
    this.packets.findNode(id, agent.tool);
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
  listAnswers(): AnswerRow[] {
    return [...this.questions]
      .map(([id, { text, end }]): AnswerRow => {
        const score = end?.correct ?? end?.normalized_em ?? null;
        return {
          id,
          question: text === '' ? null : text,
          verdict: end?.status === undefined ? 'asked' : judgeAnswer(end.status, score),
          answer: end?.answer ?? null,
          truth: null,
          reason: end?.reason ?? null,
          f1: null,
          tokens: end?.token_sum ?? null,
          packets: null,
          bytes: null,
          ms: end?.elapsed_ms ?? null,
        };
      })
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
