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

const ATTEMPTS = {
  what: 'journal of a batch',
  schema: attemptSchema,
  advice: ', or start over without --resume',
};
const JOURNAL = { ...ATTEMPTS, head: headerSchema };
/** A journal whose attempts are in a file of their own has its first line alone. */
const HEAD = { ...ATTEMPTS, schema: headerSchema };

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

interface JournalOptions {
  /** True to append to the journal, false to begin a new one. */
  readonly resume: boolean;
  /** A file of attempts alone; without it they follow the first line of the journal. */
  readonly attempts?: string | undefined;
}

/** Opens a journal whose attempts follow its first line. */
function openWhole(
  file: string,
  header: Header,
  receive: (attempt: PlacedResult) => void,
): AppendLog<Attempt, Header> {
  const log = AppendLog.open(file, JOURNAL, receive);
  const { head, torn } = log;
  try {
    if (head !== undefined) {
      checkSetup(file, head.setup, header.setup);
      return log;
    }
    // The writer was killed within the first write. Any other beginning means that the file is not ours.
    if (torn !== undefined && !JSON.stringify(header).startsWith(torn.text))
      throw new MeshError('store', `${torn.where}: this is not the ${JOURNAL.what}, and is left unchanged`);
  } catch (error) {
    log.close();
    throw error;
  }
  log.close();
  return AppendLog.create(file, JOURNAL, [header]);
}

/**
 * The attempts of a batch, one JSON line each, after a line with the batch's fingerprint. A journal belongs to one process at a
 * time.
 */
export class Journal {
  readonly file: string;
  /** Notice about a line that was dropped because it was torn when the writer was killed. */
  readonly dropped: string | undefined;
  readonly #log: AppendLog<Attempt> | AppendLog<Attempt, Header>;
  readonly #lock: FileLock;
  readonly #places = new ResultPlaces();

  private constructor(
    file: string,
    lock: FileLock,
    fingerprint: Fingerprint,
    { resume, attempts }: JournalOptions,
  ) {
    this.file = attempts ?? file;
    this.#lock = lock;
    const header = { journal: JOURNAL_VERSION, setup: fingerprint } as const;
    const receive = (attempt: PlacedResult) => this.#places.add(attempt);
    if (attempts === undefined) {
      this.#log = openWhole(file, header, receive);
    } else if (resume) {
      RecordReader.open(file, HEAD, ({ value }) => checkSetup(file, value.setup, fingerprint)).close();
      this.#log = AppendLog.open(attempts, ATTEMPTS, receive);
    } else {
      AppendLog.create(file, HEAD, [header]).close();
      this.#log = AppendLog.create<Attempt>(attempts, ATTEMPTS);
    }
    const { torn } = this.#log;
    if (torn !== undefined)
      this.dropped = `${torn.where}: the last line was cut off when the earlier run ended: its question is asked again`;
    const forgotten = this.#places.forgetLastTimeouts();
    if (forgotten !== undefined)
      this.#log.forgetFrom(forgotten, this.size + (attempts === undefined ? 1 : 0));
  }

  /**
   * Opens the journal of a batch. With `resume`, new results are appended; otherwise an existing journal is renamed to
   * `<file>.previous`.
   *
   * @throws MeshError `usage` if it belongs to another set-up; `store` if a line in the middle is damaged;
   * `locked` while another process writes it; `io`
   */
  static open(file: string, fingerprint: Fingerprint, options: JournalOptions): Journal {
    const lock = lockBatch(file, 'another batch');
    try {
      if (!options.resume && existsSync(file)) renameSync(file, `${file}.previous`);
      return new Journal(file, lock, fingerprint, options);
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
