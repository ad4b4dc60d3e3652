import { existsSync, renameSync } from 'node:fs';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { AppendLog, type RecordPlace, RecordReader } from '@gaia-mesh/core/system/append-log.ts';
import { FileLock } from '@gaia-mesh/core/system/files/file-lock.ts';
import * as z from 'zod';
import { type Attempt, type AttemptKey, attemptSchema } from '../../attempts/attempt.ts';
import { checkSetup, type Fingerprint } from '../../plan/batch-setup.ts';

/** Version of the journal's format. */
const JOURNAL_VERSION = 1;

const headerSchema = z.strictObject({
  journal: z.literal(JOURNAL_VERSION),
  setup: z.record(z.string(), z.string()),
});
type Header = z.infer<typeof headerSchema>;

const JOURNAL = {
  what: 'journal of a batch',
  schema: attemptSchema,
  head: headerSchema,
  advice: ', or start over without --resume',
};

export function formatAttemptKey({ team, cycle, task_id }: AttemptKey): string {
  return JSON.stringify([team, cycle, task_id]);
}

type PlacedResult = RecordPlace & { readonly value: Attempt };

/** The places of a journal's results in its file. Only these are held in memory. */
class ResultPlaces {
  readonly #places = new Map<string, RecordPlace>();
  /** The timeouts after the last other result. */
  #lastTimeouts: { readonly key: string; readonly place: RecordPlace }[] = [];

  get size(): number {
    return this.#places.size;
  }

  find(key: AttemptKey): RecordPlace | undefined {
    return this.#places.get(formatAttemptKey(key));
  }

  add({ value, at, bytes }: PlacedResult): void {
    const key = formatAttemptKey(value);
    const place = { at, bytes };
    this.#places.set(key, place);
    if (value.status === 'timeout') this.#lastTimeouts.push({ key, place });
    else if (this.#lastTimeouts.length > 0) this.#lastTimeouts = [];
  }

  /**
   * Forgets the timeouts after the last other result, so that their questions are asked again: nothing shows that a server or an
   * agent still worked then.
   *
   * @returns the place of the first of them, if there is one
   */
  forgetLastTimeouts(): RecordPlace | undefined {
    const [first] = this.#lastTimeouts;
    for (const { key } of this.#lastTimeouts) this.#places.delete(key);
    this.#lastTimeouts = [];
    return first?.place;
  }
}

/**
 * The results of a batch, one JSON line each, after a line with the batch's fingerprint. A journal belongs to one process at a
 * time.
 */
export class Journal {
  readonly file: string;
  /** Notice about a line that was dropped because it was torn when the writer was killed. */
  readonly dropped: string | undefined;
  readonly #log: AppendLog<Attempt, Header>;
  readonly #lock: FileLock;
  readonly #places = new ResultPlaces();

  private constructor(file: string, lock: FileLock, fingerprint: Fingerprint) {
    this.file = file;
    this.#lock = lock;
    const header = { journal: JOURNAL_VERSION, setup: fingerprint } as const;
    const log = AppendLog.open(file, JOURNAL, (result) => this.#places.add(result));
    const { head, torn } = log;
    if (head === undefined) {
      log.close();
      // The writer was killed within the first write. Any other beginning means that the file is not ours.
      if (torn !== undefined && !JSON.stringify(header).startsWith(torn.text))
        throw new MeshError('store', `${torn.where}: this is not the ${JOURNAL.what}, and is left unchanged`);
      this.#log = AppendLog.create(file, JOURNAL, [header]);
      return;
    }
    this.#log = log;
    try {
      checkSetup(file, head.setup, fingerprint);
    } catch (error) {
      log.close();
      throw error;
    }
    if (torn !== undefined)
      this.dropped = `${torn.where}: the last line was cut off when the earlier run ended: its question is asked again`;
    const forgotten = this.#places.forgetLastTimeouts();
    if (forgotten !== undefined) log.forgetFrom(forgotten, 1 + this.size);
  }

  /**
   * Opens the journal of a batch. With `resume`, new results are appended; otherwise an existing journal is renamed to
   * `<file>.previous`.
   *
   * @throws MeshError `usage` if it belongs to another set-up; `store` if a line in the middle is damaged;
   * `locked` while another process writes it; `io`
   */
  static open(file: string, fingerprint: Fingerprint, { resume }: { readonly resume: boolean }): Journal {
    const lock = lockBatch(file, 'another batch');
    try {
      if (!resume && existsSync(file)) renameSync(file, `${file}.previous`);
      return new Journal(file, lock, fingerprint);
    } catch (error) {
      lock.release();
      if (error instanceof MeshError) throw error;
      throw new MeshError('io', `journal ${file}: ${toErrorMessage(error)}`, { cause: error });
    }
  }

  get size(): number {
    return this.#places.size;
  }

  has(key: AttemptKey): boolean {
    return this.#places.find(key) !== undefined;
  }

  /**
   * Appends a result. It is in the file when the call returns, and survives the end of this process.
   *
   * @throws MeshError `io` if the disk is full; nothing more can be finished then
   */
  append(result: Attempt): void {
    // This is a bug of the batch, which would pay for the question twice.
    if (this.has(result)) throw new Error(`result ${formatAttemptKey(result)} is in the journal already`);
    this.#places.add({ value: result, ...this.#log.append(result) });
  }

  /** Reads a result from the file, or returns undefined if the attempt is not finished. */
  read(key: AttemptKey): Attempt | undefined {
    const place = this.#places.find(key);
    return place && this.#log.read(place);
  }

  close(): void {
    this.#log.close();
    this.#lock.release();
  }
}

/** The results of a batch that is finished, interrupted or still running. */
export interface ReadJournal {
  /** The batch's fingerprint; undefined for a batch that is just beginning. */
  readonly setup: Fingerprint | undefined;
  /** Reads a result, or returns undefined if the attempt is not finished; a batch may be larger than memory. */
  readonly read: (key: AttemptKey) => Attempt | undefined;
  close(): void;
}

/**
 * Opens a journal for reading and leaves it as it is.
 *
 * @throws MeshError `usage` if it cannot be opened, `store` if it is damaged or not a journal
 */
export function openJournal(file: string): ReadJournal {
  const places = new ResultPlaces();
  const log = RecordReader.open(file, JOURNAL, (result) => places.add(result));
  return {
    setup: log.head?.setup,
    read(key) {
      const place = places.find(key);
      return place && log.read(place);
    },
    close: () => log.close(),
  };
}

/**
 * Locks the batch with this journal for the current process.
 *
 * @param owner the process that may hold the lock, in words
 * @throws MeshError `locked` while another process holds it; `io` if the folder cannot be written
 */
export function lockBatch(journal: string, owner: string): FileLock {
  const file = `${journal}.lock`;
  return FileLock.take(
    file,
    (holder) =>
      `${owner} (process ${holder}) is writing there: wait for it, choose another --out, or delete ${file} if that process is gone`,
  );
}
