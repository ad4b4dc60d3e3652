import * as z from 'zod';
import type { Team } from '../../contracts/team.ts';
import { type ModelSums, USAGE_FILE, UsageBook, usageSchema } from '../../contracts/usage.ts';
import type { RunOptions } from '../run-options.ts';
import { AgentLines } from './agent-lines.ts';

const lineSchema = usageSchema.extend({ task_id: z.string() });

/**
 * Usage of models in a run, task by task, read from the agents' workspaces, where each reply is recorded as
 * it arrives. Packets would not suffice: work for a task that timed out, or of an agent that died, is in
 * none.
 */
export class RunUsage {
  readonly #lines: AgentLines<z.infer<typeof lineSchema>>;
  readonly #open = new Map<string, UsageBook>();
  readonly #all = new UsageBook();

  /** Returns undefined if no part of the run asks a model, so that nothing is read during its tasks. */
  static of(
    workspaces: string,
    { team, engine, unseen }: Pick<RunOptions, 'team' | 'engine' | 'unseen'>,
  ): RunUsage | undefined {
    const isOther = ({ engine: own }: Team['agents'][number]) => own !== undefined && own !== engine.name;
    const isUnseen = unseen !== undefined && unseen.size > 0;
    if (engine.tokenSource !== 'model' && !isUnseen && !team.agents.some(isOther)) return undefined;
    return new RunUsage(
      workspaces,
      team.agents.map(({ id }) => id),
    );
  }

  /**
   * Usage already in the files belongs to earlier runs: agents that were started by hand keep their
   * workspaces.
   */
  constructor(workspaces: string, ids: readonly string[]) {
    this.#lines = new AgentLines(workspaces, ids, USAGE_FILE, lineSchema);
  }

  /**
   * Returns the usage of a task. Call it once, when the task has ended: later usage is in {@link total}
   * alone.
   */
  ended(taskId: string): UsageBook {
    this.#read();
    const book = this.#open.get(taskId) ?? new UsageBook();
    this.#open.delete(taskId);
    return book;
  }

  /** Sum over all tasks so far. */
  get total(): ModelSums {
    this.#read();
    return this.#all.total;
  }

  #read(): void {
    for (const { value } of this.#lines.next()) {
      const { task_id, ...usage } = value;
      this.#all.add(usage);
      const book = this.#open.get(task_id) ?? new UsageBook();
      book.add(usage);
      this.#open.set(task_id, book);
    }
  }
}
