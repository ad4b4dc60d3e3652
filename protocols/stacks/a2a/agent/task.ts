import { toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { KEPT_LIMITS, MAX_MESSAGE_DEPTH } from '@gaia-mesh/core/contracts/limits.ts';
import { shortenReason } from '@gaia-mesh/core/contracts/packet.ts';
import type { HeldBytes, KeptBytes } from '@gaia-mesh/core/system/kept-bytes.ts';
import { estimateBytes } from '@gaia-mesh/core/system/parse-json.ts';
import type * as z from 'zod';
import { createFaultError } from '../../json-rpc.ts';
import { EventQueue } from '../event-queue.ts';
import {
  type A2aArtifact,
  type A2aMessage,
  isSettled,
  type paramsSchemas,
  type StreamResponse,
  TERMINAL_STATES,
} from '../model.ts';
import { type AgentWork, createTextMessage, type TaskState, type WorkEvent } from '../work.ts';

type Task = Extract<StreamResponse, { task: unknown }>['task'];

/** An artifact, whose parts come in chunks into one list: a thousand chunks are not copied a thousand times. */
interface GrowingArtifact {
  readonly artifact: A2aArtifact;
  readonly parts: A2aArtifact['parts'][number][];
}

/** Maximum requests that follow the events of one task: its client, and a few that watch. */
const MAX_FOLLOWERS = 16;

/** One task of a bare server: its state, its results and its listeners. */
export class AgentTask {
  readonly id: string;
  readonly contextId: string;
  /** Callbacks that send events outside, for example to a webhook. */
  readonly observers = new Set<(event: StreamResponse) => void>();
  readonly #enter: (task: AgentTask) => void;
  readonly #held: HeldBytes | undefined;
  readonly #streams = new Set<EventQueue<StreamResponse>>();
  readonly #artifacts = new Map<string, GrowingArtifact>();
  readonly #history: A2aMessage[] = [];
  #status = buildStatus('TASK_STATE_SUBMITTED');
  #isMade = false;
  #isDropped = false;
  #abort = new AbortController();
  #waiting: (() => void)[] = [];

  /**
   * @param enter is called when the task comes into being, which a message as the answer prevents
   * @param held the memory that it has booked in the server's budget
   */
  constructor(id: string, contextId: string, enter: (task: AgentTask) => void, held?: HeldBytes) {
    this.id = id;
    this.contextId = contextId;
    this.#enter = enter;
    this.#held = held;
  }

  /** Returns true once nothing more happens to the task. */
  get isOver(): boolean {
    return TERMINAL_STATES.has(this.state);
  }

  /** Books memory that the task keeps from now on. @throws MeshError `limit` if there is no room for it */
  hold(value: unknown): void {
    if (!this.#isDropped) this.#held?.grow(estimateBytes(value));
  }

  /** Gives the memory back, when the task is no longer kept. */
  release(): void {
    this.#isDropped = true;
    this.#held?.release();
  }

  get state(): string {
    return this.#status.state;
  }

  get changedAt(): string {
    return this.#status.timestamp;
  }

  view({
    historyLength,
    includeArtifacts = true,
  }: {
    /** Number of the latest messages to include; all of them if undefined (§3.2.4). */
    readonly historyLength?: number | undefined;
    readonly includeArtifacts?: boolean | undefined;
  }): Task {
    const history = historyLength === 0 ? [] : this.#history.slice(-(historyLength ?? this.#history.length));
    // Lists are copied, since a running task appends to its own.
    const artifacts = includeArtifacts
      ? [...this.#artifacts.values()].map(({ artifact, parts }) => ({ ...artifact, parts: [...parts] }))
      : [];
    return {
      id: this.id,
      contextId: this.contextId,
      status: this.#status,
      artifacts: artifacts.length > 0 ? artifacts : undefined,
      history: history.length > 0 ? history : undefined,
    };
  }

  /** @throws MeshError with a fault for a message that this task cannot take */
  checkFollowUp({ contextId }: A2aMessage): void {
    if (contextId !== undefined && contextId !== '' && contextId !== this.contextId)
      throw createFaultError('invalidParams', `task ${this.id} is of context ${this.contextId}`);
    if (this.isOver) throw createFaultError('unsupportedOperation', `task ${this.id} is over: ${this.state}`);
    // Two messages at work in one task would each end it, and one of their answers would be lost.
    if (!isSettled(this.state))
      throw createFaultError(
        'unsupportedOperation',
        `task ${this.id} is being worked on: ask in a task of its own`,
      );
  }

  /** @throws MeshError with the fault `busy` if too many follow the task already */
  subscribe(): EventQueue<StreamResponse> {
    if (this.#streams.size >= MAX_FOLLOWERS)
      throw createFaultError('busy', `${MAX_FOLLOWERS} requests follow task ${this.id} already`);
    const events = new EventQueue<StreamResponse>(() => this.#streams.delete(events));
    this.#streams.add(events);
    return events;
  }

  unsubscribe(events: EventQueue<StreamResponse>): void {
    events.close();
    this.#streams.delete(events);
  }

  /** Resolves when the task is over or waits for its client. */
  async settled(): Promise<void> {
    if (!isSettled(this.state)) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  run(message: A2aMessage, work: AgentWork): void {
    const own = { ...message, contextId: this.contextId, taskId: this.id };
    this.#history.push(own);
    if (this.#isMade) {
      this.#status = buildStatus('TASK_STATE_WORKING');
      this.#publish({ task: this.view({}) });
    }
    const { id: taskId, contextId } = this;
    work({ message: own, taskId, contextId, signal: this.#abort.signal }, (event) => this.#take(event))
      .catch((error: unknown) => {
        const why = createTextMessage(shortenReason(toErrorMessage(error)), taskId, contextId);
        this.#take({ kind: 'status', state: 'TASK_STATE_FAILED', message: why });
      })
      .finally(() => {
        if (this.#isMade) return;
        this.#end();
        this.release();
      });
  }

  /** @throws MeshError with the fault `taskNotCancelable` */
  cancel(): void {
    if (this.isOver) throw createFaultError('taskNotCancelable', `task ${this.id} is over: ${this.state}`);
    this.#take({ kind: 'status', state: 'TASK_STATE_CANCELED' });
    this.close();
  }

  /** Ends the work, whatever its state. */
  close(): void {
    this.#abort.abort();
    this.#end();
  }

  #take(event: WorkEvent): void {
    if (this.isOver) return; // Events of a cancelled task are dropped.
    if (event.kind === 'message' && !this.#isMade) {
      this.#publish({ message: { ...event.message, contextId: this.contextId } });
      return;
    }
    if (!this.#isMade) {
      this.#isMade = true;
      this.#enter(this);
      this.#publish({ task: this.view({}) });
    }
    const { id: taskId, contextId } = this;
    switch (event.kind) {
      case 'message':
        this.#history.push(event.message);
        return;
      case 'status':
        this.#status = buildStatus(event.state, event.message);
        this.#publish({ statusUpdate: { taskId, contextId, status: this.#status } });
        if (isSettled(event.state)) for (const resolve of this.#waiting.splice(0)) resolve();
        if (TERMINAL_STATES.has(event.state)) this.#end();
        return;
      case 'artifact': {
        const { kind, ...update } = event;
        const { artifact } = event;
        const { artifactId, parts } = artifact;
        this.hold(artifact);
        const before = event.append === true ? this.#artifacts.get(artifactId) : undefined;
        if (before === undefined) this.#artifacts.set(artifactId, { artifact, parts: [...parts] });
        else for (const part of parts) before.parts.push(part);
        this.#publish({ artifactUpdate: { taskId, contextId, ...update } });
      }
    }
  }

  #publish(event: StreamResponse): void {
    const bytes = this.#held === undefined || this.#streams.size === 0 ? 0 : estimateBytes(event);
    for (const stream of this.#streams) stream.push(event, bytes);
    for (const observe of this.observers) observe(event);
  }

  #end(): void {
    for (const stream of this.#streams) stream.close();
    this.#streams.clear();
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

function buildStatus(state: TaskState | 'TASK_STATE_SUBMITTED', message?: A2aMessage) {
  return { state, message, timestamp: new Date().toISOString() };
}

/**
 * Encodes an answer. In a list, a task that cannot be written is named by its id and its state alone, so that
 * one record spoils no list.
 */
export function encodeAnswer(answer: object, encode: (answer: object) => string): string {
  if (!('tasks' in answer) || !Array.isArray(answer.tasks)) return encode(answer);
  const tasks: unknown[] = answer.tasks.map((task: Task) => {
    const why = findUnreadable(task);
    if (why !== undefined) return nameTask(task, why);
    try {
      encode({ tasks: [task] });
      return task;
    } catch (error) {
      return nameTask(task, toErrorMessage(error));
    }
  });
  return encode({ ...answer, tasks });
}

/**
 * Explains why some reader cannot take a value: it is nested too deep, has a key `__proto__`, which some readers
 * obey, or half of a letter, which UTF-8 cannot hold. Returns undefined if all readers can take it.
 */
function findUnreadable(value: unknown): string | undefined {
  const open: [value: unknown, depth: number][] = [[value, 1]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [at, depth] = next;
    if (typeof at === 'string' && !at.isWellFormed()) return 'it has half of a letter';
    if (typeof at !== 'object' || at === null) continue;
    if (depth > MAX_MESSAGE_DEPTH) return `it is nested deeper than ${MAX_MESSAGE_DEPTH} levels`;
    for (const key of Array.isArray(at) ? [] : Object.keys(at)) {
      if (key === '__proto__') return 'it has a key __proto__';
      if (!key.isWellFormed()) return 'it has a key with half of a letter';
    }
    for (const inside of Object.values(at)) open.push([inside, depth + 1]);
  }
  return undefined;
}

function nameTask({ id, contextId, status: { state, timestamp } }: Task, why: string): object {
  const text = shortenReason(`The messages of this task are left out of the list: ${why}`);
  return { id, contextId, status: { state, timestamp, message: createTextMessage(text, id, contextId) } };
}

/** Maximum number of tasks that a bare server keeps, including finished ones, so that its memory is bounded. */
const MAX_KEPT_TASKS = 10_000;
const DEFAULT_PAGE_SIZE = 50;

export class TaskStore {
  readonly #tasks = new Map<string, AgentTask>();
  readonly #most: number;
  readonly #pageBytes: number;

  /** @param kept the budget of bytes for which finished tasks make room */
  constructor(most = MAX_KEPT_TASKS, kept?: KeptBytes) {
    this.#most = most;
    this.#pageBytes = kept === undefined ? Number.POSITIVE_INFINITY : kept.most * KEPT_LIMITS.pageShare;
    kept?.onShortage(() => this.#dropFinished());
  }

  /** Adds a task. If there are too many, it drops the oldest finished one, or else the oldest of all. */
  add(task: AgentTask): void {
    this.#tasks.set(task.id, task);
    if (this.#tasks.size <= this.#most || this.#dropFinished()) return;
    const [oldest] = this.#tasks.values();
    if (oldest !== undefined) this.#drop(oldest);
  }

  /** Drops the oldest finished task; returns false if there is none. */
  #dropFinished(): boolean {
    for (const task of this.#tasks.values()) {
      if (!task.isOver) continue;
      this.#drop(task);
      return true;
    }
    return false;
  }

  #drop(task: AgentTask): void {
    task.close();
    task.release();
    this.#tasks.delete(task.id);
  }

  /** @throws MeshError with the fault `taskNotFound` */
  get(id: string): AgentTask {
    const task = this.#tasks.get(id);
    if (task === undefined) throw createFaultError('taskNotFound', `no task ${id.slice(0, 64)}`);
    return task;
  }

  /** Lists tasks by `ListTasks` (§3.1.4), the latest changed first. A page's token is the number of tasks before it. */
  list({
    contextId = '',
    status = '',
    pageSize = DEFAULT_PAGE_SIZE,
    pageToken = '',
    historyLength,
    statusTimestampAfter,
    includeArtifacts = false,
  }: z.infer<(typeof paramsSchemas)['list']>): object {
    const after = statusTimestampAfter === undefined ? undefined : Date.parse(statusTimestampAfter);
    const found = [...this.#tasks.values()]
      .filter(
        (task) =>
          (contextId === '' || task.contextId === contextId) &&
          (status === '' || status === 'TASK_STATE_UNSPECIFIED' || task.state === status) &&
          (after === undefined || Date.parse(task.changedAt) >= after),
      )
      .reverse()
      .sort((one, other) => (one.changedAt < other.changedAt ? 1 : one.changedAt > other.changedAt ? -1 : 0));
    const start = Number(pageToken);
    const tasks: object[] = [];
    let bytes = 0;
    for (const task of found.slice(start, start + pageSize)) {
      const view = task.view({ historyLength, includeArtifacts });
      if (Number.isFinite(this.#pageBytes)) bytes += estimateBytes(view);
      if (bytes > this.#pageBytes && tasks.length > 0) break;
      tasks.push(view);
    }
    const end = start + tasks.length;
    return {
      tasks,
      nextPageToken: end < found.length && tasks.length > 0 ? String(end) : '',
      pageSize,
      totalSize: found.length,
    };
  }

  /** Ends the work on all tasks. */
  close(): void {
    for (const task of this.#tasks.values()) this.#drop(task);
  }
}
