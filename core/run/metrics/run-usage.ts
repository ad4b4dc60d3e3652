import * as z from 'zod';
import type { Team } from '../../contracts/team.ts';
import { type ModelSums, USAGE_FILE, UsageBook, usageSchema } from '../../contracts/usage.ts';
import { tryParseJson } from '../../system/json-line.ts';
import type { RunOptions } from '../run-options.ts';
import { AgentLines } from './agent-lines.ts';

const lineSchema = usageSchema.extend({ task_id: z.string() });

/**
 * What models took in a run, task by task: read from the workspaces of its agents, where each reply is noted as it comes. Packets
 * would not do: what an agent did for a task that ran out of time, or before it died, is in none.
 */
export class RunUsage {
  readonly #lines: AgentLines;
  readonly #open = new Map<string, UsageBook>();
  readonly #all = new UsageBook();

  /** Undefined where nothing of a run asks a model: there is nothing to read while its tasks go by. */
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

  /** What is in the files already is of earlier runs: agents that were started by hand keep their workspaces. */
  constructor(workspaces: string, ids: readonly string[]) {
    this.#lines = new AgentLines(workspaces, ids, USAGE_FILE);
  }

  /** What a task took. Ask once, when it has ended: what comes later is in {@link total} alone. */
  ended(taskId: string): UsageBook {
    this.#read();
    const book = this.#open.get(taskId) ?? new UsageBook();
    this.#open.delete(taskId);
    return book;
  }

  /** Over all tasks until now. */
  get total(): ModelSums {
    this.#read();
    return this.#all.total;
  }

  #read(): void {
    for (const line of this.#lines.next()) this.#add(line);
  }

  #add(line: string): void {
    const parsed = lineSchema.safeParse(tryParseJson(line));
    // The log's own word that it was cut, or something else's of this name: it says nothing of models.
    if (!parsed.success) return;
    const { task_id, ...usage } = parsed.data;
    this.#all.add(usage);
    const book = this.#open.get(task_id) ?? new UsageBook();
    book.add(usage);
    this.#open.set(task_id, book);
  }
}
