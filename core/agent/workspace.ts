import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import type { ModelExchange } from '../contracts/engine.ts';
import { MeshError } from '../contracts/errors.ts';
import { EXCHANGES_FILE } from '../contracts/model-exchange.ts';
import type { JsonObject } from '../contracts/packet.ts';
import { USAGE_FILE, type Usage } from '../contracts/usage.ts';
import { writeWhole } from '../system/files/whole-file.ts';
import { type Log, openLog } from '../system/log.ts';
import { ExchangeLog, type ExchangeOf } from './exchange-log.ts';

/** Maximum tasks that `memory.json` remembers; the oldest are forgotten. */
const MAX_MEMORY_TASKS = 100;

/** Maximum age of `memory.json` in milliseconds; it is also written at the end. */
const SAVE_EVERY_MS = 1000;

const count = z.int().nonnegative();
const memorySchema = z.object({
  node_id: z.string(),
  tool: z.string(),
  engine: z.string(),
  packets_received: count,
  packets_sent: count,
  token_used: count,
  /** Number of restarts after the agent had died. */
  restarts: count.exactOptional(),
  /** The last tasks it worked on: the packet type it sent for each, and the tokens it took. */
  tasks: z.array(z.object({ task_id: z.string(), sent: z.string(), token_used: count })),
});

/** State that an agent keeps about itself in `memory.json`. */
type Memory = z.infer<typeof memorySchema>;

/**
 * An agent's private folder, `workspaces/<id>/`: `agent.log` (one JSON line per packet), `memory.json`,
 * `warnings.log` if something of other software was lost, `usage.log` if a model was asked (one JSON line per reply), `exchanges.log` (requests and replies), and
 * files of its tool. No other process writes there, and the agent writes nowhere else (MP-06).
 */
export class Workspace {
  readonly directory: string;
  readonly log: Log;
  readonly memory: Memory;
  readonly #records = new Map<string, Log>();
  #exchanges: ExchangeLog | undefined;
  #saving: NodeJS.Timeout | undefined;

  /** `resumes`: continue with the memory of an agent that died, if it left one. */
  constructor(
    directory: string,
    agent: { id: string; tool: string; engine: string },
    options: { readonly resumes?: boolean } = {},
  ) {
    this.directory = directory;
    mkdirSync(directory, { recursive: true });
    this.log = openLog(path.join(directory, 'agent.log'));
    const fresh: Memory = {
      node_id: agent.id,
      tool: agent.tool,
      engine: agent.engine,
      packets_received: 0,
      packets_sent: 0,
      token_used: 0,
      tasks: [],
    };
    if (options.resumes === true) {
      const left = this.#left();
      this.memory = { ...fresh, ...left, restarts: (left?.restarts ?? 0) + 1 };
    } else {
      this.memory = fresh;
    }
    this.#save();
  }

  /** Appends one JSON line to a file of the tool. */
  record(fileName: string, entry: JsonObject): void {
    if (fileName === '' || path.basename(fileName) !== fileName || fileName.startsWith('.')) {
      throw new MeshError('io', `a record needs a plain file name, not ${JSON.stringify(fileName)}`);
    }
    this.#recordOf(fileName).info(entry);
  }

  /**
   * Records what a model's reply took for a task. It is in the file before any result of the reply is sent,
   * so that it is there when the task's end is reported, even if the agent was killed or the task's packets
   * never left.
   */
  noteUsage(taskId: string, usage: Usage): void {
    this.#recordOf(USAGE_FILE).info({ task_id: taskId, ...usage });
  }

  /**
   * Records a whole exchange with a model. Call it before {@link noteUsage}: a reader that finds the usage
   * then finds the exchange, too.
   */
  noteExchange(of: ExchangeOf, exchange: ModelExchange): void {
    this.#exchanges ??= new ExchangeLog(path.join(this.directory, EXCHANGES_FILE));
    this.#exchanges.note(of, exchange);
  }

  /** Records that packets of type `sent` were sent for a task. */
  remember(taskId: string, sent: string, tokens: number): void {
    this.memory.packets_sent += 1;
    this.memory.token_used += tokens;
    this.memory.tasks.push({ task_id: taskId, sent, token_used: tokens });
    if (this.memory.tasks.length > MAX_MEMORY_TASKS) this.memory.tasks.shift();
    this.#saving ??= setTimeout(() => this.#save(), SAVE_EVERY_MS).unref();
  }

  close(): void {
    this.#save();
    this.log.close();
    this.#exchanges?.close();
    for (const record of this.#records.values()) record.close();
    this.#records.clear();
  }

  #recordOf(fileName: string): Log {
    let record = this.#records.get(fileName);
    if (record === undefined) {
      // The record of a task's work is in the file even if the task fails or times out.
      record = openLog(path.join(this.directory, fileName), { durability: 'each' });
      this.#records.set(fileName, record);
    }
    return record;
  }

  /** Returns the memory that an earlier agent left, if it is there and whole. */
  #left(): Memory | undefined {
    try {
      return memorySchema.parse(JSON.parse(readFileSync(path.join(this.directory, 'memory.json'), 'utf8')));
    } catch {
      return undefined; // The agent died before it wrote one.
    }
  }

  #save(): void {
    clearTimeout(this.#saving);
    this.#saving = undefined;
    const file = path.join(this.directory, 'memory.json');
    writeWhole(file, `${JSON.stringify(this.memory, null, 2)}\n`);
  }
}
