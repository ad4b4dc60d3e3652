import type { RunEvent } from '@gaia-mesh/core/run/run-event.ts';

/** An event with its number and its milliseconds since the first event. */
type Timed = RunEvent & { readonly n: number; readonly at: number };
export type PacketEvent = Extract<Timed, { event: 'packet' | 'broadcast' }>;
type TaskEnd = Extract<Timed, { event: 'task_ended' }>;
type RunBegan = Extract<Timed, { event: 'run_began' }>;

export interface AgentState {
  readonly id: string;
  tool: string;
  state: 'up' | 'gone' | 'starting';
  text: string;
  packets: number;
  bytes: number;
  tokens: number;
}

/** A question with all that was said of it. */
export interface Asked {
  readonly id: string;
  readonly n: number;
  readonly text: string;
  readonly end: Partial<TaskEnd> | null;
}

interface ArmState {
  count: number;
  ms: number[];
  bytes: number | null;
}

/** A loss, a fault or a notice, in words. */
export interface News {
  readonly n: number;
  readonly at: number;
  readonly kind: string;
  readonly text: string;
}

/** All that is known at a moment, from the events up to it. */
export interface LiveState {
  at: number;
  run: RunBegan | null;
  runs: RunBegan[];
  agents: Map<string, AgentState>;
  questions: Map<string, Asked>;
  totals: { packets: number; bytes: number; tokens: number; unshown: number };
  faults: Map<string, number>;
  arms: Map<string, ArmState>;
  /** The workers of a queued batch; null where the agents are this command's. */
  workers: RunEvent<'workers'>['workers'] | null;
  progress: { readonly share: number; readonly text: string } | null;
  end: string | null;
}

function createState(): LiveState {
  return {
    at: 0,
    run: null,
    runs: [],
    agents: new Map(),
    questions: new Map(),
    totals: { packets: 0, bytes: 0, tokens: 0, unshown: 0 },
    faults: new Map(),
    arms: new Map(),
    workers: null,
    progress: null,
    end: null,
  };
}

/** Samples of an arm of which its median is taken. */
const MAX_SAMPLES = 1000;

function advance(state: LiveState, event: Timed): void {
  state.at = event.at;
  switch (event.event) {
    case 'run_began':
      Object.assign(state, { ...createState(), at: event.at, runs: [...state.runs, event], run: event });
      for (const { id, tool } of event.agents) findAgent(state, id, tool).state = 'starting';
      break;
    case 'agent_up':
      Object.assign(findAgent(state, event.id, event.tool), {
        state: 'up',
        text: `${event.where}${event.pid === undefined ? '' : `, process ${event.pid}`}`,
      });
      break;
    case 'agent_lost':
      Object.assign(findAgent(state, event.id, event.tool), { state: 'gone', text: event.reason });
      break;
    case 'agent_died':
      Object.assign(findAgent(state, event.id, event.tool), { state: 'gone', text: event.how });
      break;
    case 'task_began':
      state.questions.set(event.task_id, { id: event.task_id, n: event.n, text: event.question, end: null });
      break;
    case 'task_ended':
      endTask(state, event);
      break;
    case 'totals': {
      const { packets, bytes, tokens, unshown } = event;
      state.totals = { packets, bytes, tokens, unshown };
      for (const [id, counts] of Object.entries(event.agents)) {
        const agent = Object.assign(findAgent(state, id, ''), counts);
        // An agent that this run did not start is there when it says something.
        if (agent.state === 'starting') agent.state = 'up';
      }
      state.faults = new Map(Object.entries(event.faults));
      break;
    }
    case 'sample': {
      const arm = state.arms.get(event.arm) ?? { count: 0, ms: [], bytes: null };
      arm.count += 1;
      arm.bytes = event.bytes ?? arm.bytes;
      if (event.ms !== null && arm.ms.length < MAX_SAMPLES) arm.ms.push(event.ms);
      state.arms.set(event.arm, arm);
      break;
    }
    case 'workers':
      state.workers = event.workers;
      break;
    case 'progress':
      state.progress = event;
      break;
    case 'stream_ended':
      state.end = event.text;
      break;
    default:
  }
}

function findAgent(state: LiveState, id: string, tool: string): AgentState {
  const known = state.agents.get(id);
  if (known !== undefined) {
    if (tool !== '') known.tool = tool;
    return known;
  }
  const agent: AgentState = { id, tool, state: 'up', text: '', packets: 0, bytes: 0, tokens: 0 };
  state.agents.set(id, agent);
  return agent;
}

/** A second end of a question adds to the first: a scorer has judged it. */
function endTask(state: LiveState, event: TaskEnd): void {
  const before = state.questions.get(event.task_id);
  const known = Object.fromEntries(Object.entries(event).filter(([, value]) => value !== undefined));
  state.questions.delete(event.task_id);
  state.questions.set(event.task_id, {
    id: event.task_id,
    n: event.n,
    text: event.question ?? before?.text ?? '',
    end: { ...before?.end, ...known },
  });
}

export function judgeQuestion({ end }: Asked): string {
  if (end === null) return 'asked';
  if (end.status !== 'answered') return end.status === 'timeout' ? 'out of time' : 'failed';
  const score = end.correct ?? end.normalized_em ?? null;
  return score === null ? 'answered' : score === 1 ? 'right' : 'wrong';
}

/** Sums what became of the questions, and what their models cost. */
export function scoreQuestions({ questions }: LiveState) {
  const score = { ended: 0, answered: 0, right: 0, scored: 0, priced: 0, cost: 0, isCostKnown: true };
  for (const question of questions.values()) {
    const { end } = question;
    if (end === null) continue;
    const verdict = judgeQuestion(question);
    score.ended += 1;
    if (end.status === 'answered') score.answered += 1;
    if (verdict === 'right') score.right += 1;
    if ((end.correct ?? end.normalized_em ?? null) !== null) score.scored += 1;
    if (end.cost_usd === undefined) continue;
    score.priced += 1;
    if (end.cost_usd === null) score.isCostKnown = false;
    else score.cost += end.cost_usd;
  }
  return score;
}

/** Words a loss, a fault or a notice; returns undefined for other events. */
export function toNews(event: Timed): News | undefined {
  const say = (kind: string, text: string) => ({ n: event.n, at: event.at, kind, text });
  switch (event.event) {
    case 'note':
      return say('note', event.text);
    case 'agent_lost':
      return say('lost', `agent ${event.id} (${event.tool}) is gone: ${event.reason}`);
    case 'agent_died':
      return say('lost', `agent ${event.id} (${event.tool}) is gone: ${event.how}`);
    case 'refused':
      return say('refused', `from ${event.from}: ${event.reason}`);
    case 'fault':
    case 'undeliverable':
      return say(event.kind, `${event.type} ${event.id} from ${event.from} to ${event.to}`);
    case 'fault_began':
      return say('fault', event.fault);
    case 'fault_ended':
      return say('fault', `${event.fault} is over`);
    case 'restart':
      return say('restart', event.news);
    default:
      return undefined;
  }
}

/** Events that a page keeps; of older ones it keeps what they came to. */
const MAX_EVENTS = 60_000;
const DROPPED_AT_ONCE = 10_000;

/** All events, and what was known at any moment of them. */
export class LiveHistory {
  events: Timed[] = [];
  now = createState();
  /** Events that never came: the page was too slow, or came late. */
  missed = 0;
  readonly types = new Set<string>();
  #before = createState();
  #last = 0;
  #startMs: number | undefined;

  add(events: readonly RunEvent[]): void {
    for (const event of events) {
      const { n = 0 } = event;
      if (n <= this.#last) continue;
      this.#startMs ??= event.time;
      this.missed += n - this.#last - 1;
      this.#last = n;
      const timed = { ...event, n, at: Math.max(0, event.time - this.#startMs) };
      this.events.push(timed);
      advance(this.now, timed);
      if (event.event === 'packet' || event.event === 'broadcast') this.types.add(event.type);
    }
    if (this.events.length <= MAX_EVENTS) return;
    for (const event of this.events.splice(0, DROPPED_AT_ONCE)) advance(this.#before, event);
  }

  /** Returns the state at a moment, from the events that are kept. */
  stateAt(at: number): LiveState {
    const state = structuredClone(this.#before);
    for (const event of this.events) {
      if (event.at > at) break;
      advance(state, event);
    }
    return state;
  }

  /** Returns the number of events up to a moment. */
  countUpTo(at: number): number {
    let [low, high] = [0, this.events.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.events[middle]?.at ?? 0) <= at) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  get beganMs(): number {
    return this.#before.at;
  }

  get lastMs(): number {
    return this.now.at;
  }
}

/** The current view, which is part of the address, so that links lead to it. */
export interface Place {
  /** The moment; null is now. */
  readonly at: number | null;
  readonly agent: string;
  readonly type: string;
  readonly question: string;
  readonly text: string;
  /** The detail that is opened: `log:2`, `question:q-1`, `packet:2:2-17`. */
  readonly open: string;
}

export function readPlace(): Place {
  const values = new URLSearchParams(location.hash.slice(1));
  const text = (name: string) => values.get(name) ?? '';
  const at = values.get('at');
  return {
    at: at === null || at === '' || !Number.isFinite(Number(at)) ? null : Number(at),
    agent: text('agent'),
    type: text('type'),
    question: text('question'),
    text: text('text'),
    open: text('open'),
  };
}

export function formatPlace(place: Place): string {
  const values = new URLSearchParams();
  for (const [name, value] of Object.entries(place))
    if (value !== null && value !== '') values.set(name, String(value));
  return `#${values}`;
}
