import type * as z from 'zod';
import { type paramsSchemas, TERMINAL_STATES } from '../model.ts';
import { createFaultError } from './faults.ts';
import type { AgentTask } from './task.ts';

/** Maximum number of tasks that a bare server keeps, including finished ones, so that its memory is bounded. */
const MAX_KEPT_TASKS = 10_000;
const DEFAULT_PAGE_SIZE = 50;

export class TaskStore {
  readonly #tasks = new Map<string, AgentTask>();
  readonly #most: number;

  constructor(most = MAX_KEPT_TASKS) {
    this.#most = most;
  }

  /** Adds a task. If there are too many, it drops the oldest finished one, or else the oldest of all. */
  add(task: AgentTask): void {
    this.#tasks.set(task.id, task);
    if (this.#tasks.size <= this.#most) return;
    const [oldest] = this.#tasks.values();
    const gone = [...this.#tasks.values()].find(({ state }) => TERMINAL_STATES.has(state)) ?? oldest;
    gone?.close();
    this.#tasks.delete(gone?.id ?? '');
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
    const end = start + pageSize;
    return {
      tasks: found.slice(start, end).map((task) => task.view({ historyLength, includeArtifacts })),
      nextPageToken: end < found.length ? String(end) : '',
      pageSize,
      totalSize: found.length,
    };
  }

  /** Ends the work on all tasks. */
  close(): void {
    for (const task of this.#tasks.values()) if (!TERMINAL_STATES.has(task.state)) task.close();
    this.#tasks.clear();
  }
}
