import { setImmediate } from 'node:timers/promises';
import type * as z from 'zod';
import { EXCHANGES_FILE, type ExchangeLine, exchangeLineSchema } from '../../contracts/model-exchange.ts';
import { restoreExchange } from '../../recording/recorded-exchange.ts';
import { countExchange } from '../../tokens/count-exchange.ts';
import { AgentLines } from './agent-lines.ts';
import { sumLedgers, TokenLedger, type TokenLedgerFigures } from './token-ledger.ts';

const BOUNDS = {
  /** Maximum unfinished tasks; exchanges for further ones, which the run did not ask, are not kept. */
  openTasks: 4_096,
  /** Maximum characters of the texts of one task; prompts of thirty turns have some hundred thousand. */
  taskCharacters: 32_000_000,
};

interface TaskExchanges {
  readonly texts: Map<string, string>;
  readonly exchanges: ExchangeLine[];
  characters: number;
}

/**
 * Counts the tokens of a run by kind, task by task. It counts them here, from the agents' exchange logs,
 * because a table of tokens in each agent would take memory and time there.
 */
export class RunExchanges {
  readonly #lines: AgentLines<z.infer<typeof exchangeLineSchema>>;
  readonly #open = new Map<string, TaskExchanges>();
  #total: TokenLedgerFigures | undefined;
  readonly #bounds: typeof BOUNDS;

  /** Exchanges already in the files belong to earlier runs. */
  constructor(workspaces: string, ids: readonly string[], bounds = BOUNDS) {
    this.#bounds = bounds;
    this.#lines = new AgentLines(workspaces, ids, EXCHANGES_FILE, exchangeLineSchema);
  }

  /**
   * Returns the ledger of a task's tokens; undefined if it asked no model. Call it once, when the task has
   * ended.
   */
  async ended(
    taskId: string,
    isTimeUp: () => boolean = () => false,
  ): Promise<TokenLedgerFigures | undefined> {
    this.#read();
    const task = this.#open.get(taskId);
    if (task === undefined) return undefined;
    this.#open.delete(taskId);
    const ledger = new TokenLedger();
    for (const line of task.exchanges) {
      const exchange = isTimeUp() ? undefined : restoreExchange(line, task.texts);
      if (exchange === undefined) ledger.addUnknown();
      else ledger.add({ ...line, counted: await countExchange(exchange) });
      // Yield, because the hub runs in this process, and other tasks' clocks run.
      await setImmediate();
    }
    const { figures } = ledger;
    this.#total = sumLedgers([this.#total, figures].flatMap((one) => one ?? []));
    return figures;
  }

  /**
   * Returns the ledger over all ended tasks, including exchanges that arrived afterwards. When the time is up,
   * the rest counts as unknown.
   */
  async total(isTimeUp: () => boolean = () => false): Promise<TokenLedgerFigures | undefined> {
    this.#read(isTimeUp);
    for (const taskId of [...this.#open.keys()]) await this.ended(taskId, isTimeUp);
    return this.#total;
  }

  /** Keeps the exchanges that arrived since the last call, and the texts that they refer to. */
  #read(isTimeUp: () => boolean = () => false): void {
    for (const { value, characters: length } of this.#lines.next()) {
      if (isTimeUp()) return;
      const task = this.#find(value.task_id);
      const characters = 'text' in value ? value.text.length : length;
      if (task === undefined || task.characters + characters > this.#bounds.taskCharacters) continue;
      task.characters += characters;
      if ('text' in value) task.texts.set(value.digest, value.text);
      else task.exchanges.push(value);
    }
  }

  #find(taskId: string): TaskExchanges | undefined {
    const present = this.#open.get(taskId);
    if (present !== undefined || this.#open.size === this.#bounds.openTasks) return present;
    const task = { texts: new Map(), exchanges: [], characters: 0 };
    this.#open.set(taskId, task);
    return task;
  }
}
