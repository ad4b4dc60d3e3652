import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod';
import type { Engine } from '../../contracts/engine.ts';
import { folderNameOf } from '../../contracts/node-id.ts';
import type { Team } from '../../contracts/team.ts';
import { type ModelSums, USAGE_FILE, UsageBook, usageSchema } from '../../contracts/usage.ts';

/** Read at a time; a line is far shorter, and whatever has none in so many bytes is stepped over. */
const MAX_READ_BYTES = 1024 * 1024;
/** An agent that puts a pipe or a link in the place of its file stops nobody, and shows nothing. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

const lineSchema = usageSchema.extend({ task_id: z.string() });

/**
 * What models took in a run, task by task: read from the workspaces of its agents, where each reply is noted as it comes. Packets
 * would not do: what an agent did for a task that ran out of time, or before it died, is in none.
 */
export class RunUsage {
  readonly #files: readonly GrowingFile[];
  readonly #open = new Map<string, UsageBook>();
  readonly #all = new UsageBook();

  /** Undefined where nothing of a run asks a model: there is nothing to read while its tasks go by. */
  static of(
    workspaces: string,
    { team, engine }: { readonly team: Team; readonly engine: Pick<Engine, 'name' | 'tokenSource'> },
  ): RunUsage | undefined {
    const isOther = ({ engine: own }: Team['agents'][number]) => own !== undefined && own !== engine.name;
    if (engine.tokenSource !== 'model' && !team.agents.some(isOther)) return undefined;
    return new RunUsage(
      workspaces,
      team.agents.map(({ id }) => id),
    );
  }

  /** What is in the files already is of earlier runs: agents that were started by hand keep their workspaces. */
  constructor(workspaces: string, ids: readonly string[]) {
    this.#files = ids.map((id) => new GrowingFile(path.join(workspaces, folderNameOf(id), USAGE_FILE)));
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
    for (const file of this.#files) for (const line of file.newLines()) this.#add(line);
  }

  #add(line: string): void {
    const parsed = lineSchema.safeParse(jsonIn(line));
    // The log's own word that it was cut, or something else's of this name: it says nothing of models.
    if (!parsed.success) return;
    const { task_id, ...usage } = parsed.data;
    this.#all.add(usage);
    const book = this.#open.get(task_id) ?? new UsageBook();
    book.add(usage);
    this.#open.set(task_id, book);
  }
}

/** A file that others append lines to. */
class GrowingFile {
  readonly #path: string;
  #offset = 0;

  constructor(file: string) {
    this.#path = file;
    // Whatever is in it is old.
    this.newLines();
  }

  /** The lines that were finished since the last call; none while there is no file. */
  newLines(): string[] {
    let descriptor: number;
    try {
      descriptor = openSync(this.#path, OPEN_FLAGS);
    } catch {
      return [];
    }
    try {
      const lines: string[] = [];
      for (;;) {
        const text = this.#rest(descriptor);
        const isFull = text.length === MAX_READ_BYTES;
        const end = text.lastIndexOf('\n') + 1;
        this.#offset += end === 0 && isFull ? text.length : end;
        lines.push(...text.toString('utf8', 0, end).split('\n').slice(0, -1));
        if (!isFull) return lines;
      }
    } finally {
      closeSync(descriptor);
    }
  }

  #rest(descriptor: number): Buffer {
    const file = fstatSync(descriptor);
    const length = file.isFile() ? Math.min(MAX_READ_BYTES, Math.max(0, file.size - this.#offset)) : 0;
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(descriptor, bytes, 0, length, this.#offset));
  }
}

function jsonIn(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
