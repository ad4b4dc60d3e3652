import { KEPT_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import type { KeptBytes } from '@gaia-mesh/core/system/kept-bytes.ts';
import { estimateBytes } from '@gaia-mesh/core/system/parse-json.ts';
import type * as z from 'zod';
import type { paramsSchemas } from '../model.ts';
import { createFaultError } from './faults.ts';
import type { AgentTask } from './task.ts';

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
