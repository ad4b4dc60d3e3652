import * as z from 'zod';
import { WARNING_LIMITS } from '../../contracts/limits.ts';
import {
  boundWarning,
  type RunWarning,
  runWarningSchema,
  WARNINGS_FILE,
  type Warning,
} from '../../contracts/warning.ts';
import { AgentLines } from './agent-lines.ts';

const { lost, where, why, task_id } = runWarningSchema.shape;
const lineSchema = z.object({ lost, where, why, task_id });

/** Maximum tasks with warnings that wait for their end; the warnings of further ones are in the sum alone. */
const MAX_OPEN_TASKS = 1000;

/**
 * Warnings of a run, read from the agents' workspaces, where each is noted as it happens: those of a task that
 * timed out or of an agent that died are there, too.
 */
export class RunWarnings {
  readonly all = new WarningList();
  readonly #lines: AgentLines<z.infer<typeof lineSchema>>;
  readonly #open = new Map<string, WarningList>();

  constructor(workspaces: string, ids: readonly string[]) {
    this.#lines = new AgentLines(workspaces, ids, WARNINGS_FILE, lineSchema);
  }

  /** Returns the warnings of a task. Call it once, when the task has ended: later ones are in `all` alone. */
  ended(taskId: string): RunWarning[] {
    this.read();
    const { entries = [] } = this.#open.get(taskId) ?? {};
    this.#open.delete(taskId);
    return entries;
  }

  read(): void {
    for (const { agent, value } of this.#lines.next()) {
      const { task_id, ...warning } = value;
      this.all.add(warning, agent, task_id);
      if (task_id !== undefined) this.#listFor(task_id)?.add(warning, agent, task_id);
    }
  }

  #listFor(taskId: string): WarningList | undefined {
    const list = this.#open.get(taskId);
    if (list !== undefined || this.#open.size >= MAX_OPEN_TASKS) return list;
    const begun = new WarningList();
    this.#open.set(taskId, begun);
    return begun;
  }
}

/** The warnings of a run: equal ones are counted, and further ones only summed beyond the maximum. */
class WarningList {
  readonly #entries = new Map<string, RunWarning>();
  #unlisted = 0;

  add(warning: Warning, agent: string | null, task_id?: string): void {
    const bounded = boundWarning(warning);
    const key = JSON.stringify([agent, bounded]);
    const before = this.#entries.get(key);
    if (before !== undefined) this.#entries.set(key, { ...before, times: before.times + 1 });
    else if (this.#entries.size < WARNING_LIMITS.count)
      this.#entries.set(key, { agent, task_id, ...bounded, times: 1 });
    else this.#unlisted += 1;
  }

  get entries(): RunWarning[] {
    const listed = [...this.#entries.values()];
    if (this.#unlisted === 0) return listed;
    const why = `${this.#unlisted} warnings beyond the first ${WARNING_LIMITS.count} are not listed`;
    return [...listed, { agent: null, lost: 'part', where: 'these warnings', why, times: this.#unlisted }];
  }
}
