import { setImmediate } from 'node:timers/promises';
import type * as z from 'zod';
import { EXCHANGES_FILE, type ExchangeLine, exchangeLineSchema } from '../../contracts/model-exchange.ts';
import { restoreExchange } from '../../recording/recorded-exchange.ts';
import { countExchange } from '../../tokens/count-exchange.ts';
import { type AgentLine, AgentLines } from './agent-lines.ts';
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
    for (const line of this.#lines.next()) this.#keep(line);
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
    for (const line of this.#lines.next()) {
      if (isTimeUp()) break;
      this.#keep(line);
    }
    for (const taskId of [...this.#open.keys()]) await this.ended(taskId, isTimeUp);
    return this.#total;
  }

  #keep({ value: data, characters: length }: AgentLine<z.infer<typeof exchangeLineSchema>>): void {
    let task = this.#open.get(data.task_id);
    if (task === undefined) {
      if (this.#open.size === this.#bounds.openTasks) return;
      task = { texts: new Map(), exchanges: [], characters: 0 };
      this.#open.set(data.task_id, task);
    }
    const characters = 'text' in data ? data.text.length : length;
    if (task.characters + characters > this.#bounds.taskCharacters) return;
    task.characters += characters;
    if ('text' in data) task.texts.set(data.digest, data.text);
    else task.exchanges.push(data);
  }
}
