import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import type { ModelExchange } from '../contracts/engine.ts';
import { MeshError } from '../contracts/errors.ts';
import { EXCHANGES_FILE } from '../contracts/model-exchange.ts';
import type { JsonObject } from '../contracts/packet.ts';
import { TRACE_FILE } from '../contracts/tool.ts';
import { USAGE_FILE, type Usage } from '../contracts/usage.ts';
import { writeWhole } from '../system/files/whole-file.ts';
import { type Log, openLog } from '../system/log.ts';
import { ExchangeLog, type ExchangeOf } from './exchange-log.ts';

/** Tasks that `memory.json` remembers; the oldest are forgotten. */
const MAX_MEMORY_TASKS = 100;

/** `memory.json` is at most this far behind; it is written at the end in any case. */
const SAVE_EVERY_MS = 1000;

const count = z.int().nonnegative();
const memorySchema = z.object({
  node_id: z.string(),
  tool: z.string(),
  engine: z.string(),
  packets_received: count,
  packets_sent: count,
  token_used: count,
  /** Times that it was started again after it had died. */
  restarts: count.exactOptional(),
  /** Last tasks it worked on: what it sent for each, and what that took. */
  tasks: z.array(z.object({ task_id: z.string(), sent: z.string(), token_used: count })),
});

/** What an agent keeps about itself in `memory.json`. */
type Memory = z.infer<typeof memorySchema>;

/**
 * An agent's private folder, `workspaces/<id>/`: `agent.log` (one JSON line a packet), `memory.json`, `usage.log` where a
 * model was asked (one JSON line a reply), `exchanges.log` (what was asked and replied), and what its tool leaves. Nobody else writes there, and the agent writes nowhere else (MP-06).
 */
export class Workspace {
  readonly directory: string;
  readonly log: Log;
  readonly memory: Memory;
  readonly #records = new Map<string, Log>();
  #exchanges: ExchangeLog | undefined;
  #saving: NodeJS.Timeout | undefined;

  /** `resumes`: it goes on with the memory of an agent that died, where that left one. */
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

  /** Appends one JSON line to a file of the tool's. */
  record(fileName: string, entry: JsonObject): void {
    if (fileName === '' || path.basename(fileName) !== fileName || fileName.startsWith('.')) {
      throw new MeshError('io', `a record needs a plain file name, not ${JSON.stringify(fileName)}`);
    }
    const record = this.#recordOf(fileName);
    record.info(entry);
    // What was done for a task must be there when the task fails, or its time is up.
    if (fileName === TRACE_FILE) record.flush();
  }

  /**
   * Notes what a model's reply took for a task. It is in the file before anything that comes of the reply is sent, so that whoever
   * hears of the task's end finds it there: also of an agent that was killed, and of a task whose packets never left.
   */
  noteUsage(taskId: string, usage: Usage): void {
    const record = this.#recordOf(USAGE_FILE);
    record.info({ task_id: taskId, ...usage });
    record.flush();
  }

  /** Notes a whole exchange with a model. Call it before {@link noteUsage}: whoever finds the usage finds the exchange. */
  noteExchange(of: ExchangeOf, exchange: ModelExchange): void {
    this.#exchanges ??= new ExchangeLog(openLog(path.join(this.directory, EXCHANGES_FILE)));
    this.#exchanges.note(of, exchange);
  }

  /** Notes that packets of type `sent` left for a task. */
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
      record = openLog(path.join(this.directory, fileName));
      this.#records.set(fileName, record);
    }
    return record;
  }

  /** The memory that is there, if one is and it is whole. */
  #left(): Memory | undefined {
    try {
      return memorySchema.parse(JSON.parse(readFileSync(path.join(this.directory, 'memory.json'), 'utf8')));
    } catch {
      return undefined; // It died before it had one.
    }
  }

  #save(): void {
    clearTimeout(this.#saving);
    this.#saving = undefined;
    const file = path.join(this.directory, 'memory.json');
    writeWhole(file, `${JSON.stringify(this.memory, null, 2)}\n`);
  }
}
