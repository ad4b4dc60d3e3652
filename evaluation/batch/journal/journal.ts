import { existsSync, renameSync } from 'node:fs';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { AppendLog, type RecordPlace, RecordReader } from '@gaia-mesh/core/system/append-log.ts';
import { FileLock } from '@gaia-mesh/core/system/files/file-lock.ts';
import { writeWhole } from '@gaia-mesh/core/system/files/whole-file.ts';
import { type Attempt, type AttemptKey, attemptSchema } from '../../attempts/attempt.ts';
import { type BatchHead, readBatchHead } from './batch-head.ts';

const JOURNAL = {
  what: 'journal of a batch',
  schema: attemptSchema,
  advice: ', or start over without --resume',
};

export function formatAttemptKey({ team, cycle, task_id }: AttemptKey): string {
  return JSON.stringify([team, cycle, task_id]);
}

/** Tells if an attempt failed for a cause that other questions may share: a model, an agent or a store that is gone. */
export function isSuspect({ status, code }: Attempt): boolean {
  return status === 'failed' && (code === 'engine' || code === 'agent' || code === 'store');
}

type PlacedResult = RecordPlace & { readonly value: Attempt };

/** An attempt without an answer that may be due to a lost model or agent: no later attempt has shown yet that they work. */
type Doubt = RecordPlace & Pick<Attempt, 'team' | 'ended_at'> & { readonly key: string };

/** The places of a journal's results in its file. Only these are held in memory. */
class ResultPlaces {
  readonly #places = new Map<string, RecordPlace>();
  #doubts: Doubt[] = [];

  get size(): number {
    return this.#places.size;
  }

  find(key: AttemptKey): RecordPlace | undefined {
    return this.#places.get(formatAttemptKey(key));
  }

  add({ value, at, bytes }: PlacedResult): void {
    const { team, ended_at, elapsed_ms, status, cached } = value;
    const key = formatAttemptKey(value);
    this.#places.set(key, { at, bytes });
    if (status === 'timeout' || isSuspect(value)) this.#doubts.push({ key, team, ended_at, at, bytes });
    else if (!cached) {
      // An attempt that began before a failure shows nothing about it. Its start is rounded up, since ends are in whole milliseconds.
      const beganMs = Math.ceil(ended_at - elapsed_ms);
      this.#doubts = this.#doubts.filter((doubt) => doubt.team !== team || doubt.ended_at > beganMs);
    }
  }

  /**
   * Forgets the attempts in doubt, so that their questions are asked again.
   *
   * @returns the first place that changes, the number of results before it, and the places of those after it
   */
  forgetDoubts(): { first: RecordPlace; before: number; after: RecordPlace[] } | undefined {
    const [first] = this.#doubts;
    for (const { key } of this.#doubts) this.#places.delete(key);
    this.#doubts = [];
    if (first === undefined) return undefined;
    const after = [...this.#places.values()].filter(({ at }) => at > first.at);
    return { first, before: this.size - after.length, after };
  }
}

/** The files of a batch: its head, and the attempts. */
interface JournalPaths {
  readonly head: string;
  readonly journal: string;
}

/** The attempts of a batch, one JSON line each. A journal belongs to one process at a time. */
export class Journal {
  readonly file: string;
  /** Notice about a line that was dropped because it was torn when the writer was killed. */
  readonly dropped: string | undefined;
  readonly #log: AppendLog<Attempt>;
  readonly #lock: FileLock;
  readonly #places = new ResultPlaces();

  private constructor(file: string, lock: FileLock, resumes: boolean) {
    this.file = file;
    this.#lock = lock;
    this.#log = resumes
      ? AppendLog.open(file, JOURNAL, (attempt) => this.#places.add(attempt))
      : AppendLog.create(file, JOURNAL);
    const { torn } = this.#log;
    if (torn !== undefined)
      this.dropped = `${torn}: the last line was cut off when the earlier run ended: its question is asked again`;
    this.#forgetDoubts();
  }

  /**
   * Opens the journal of a batch, and writes the batch's head. With `resumes`, new results are appended; otherwise an existing
   * journal is renamed to `<file>.previous`. A resumed batch forgets the attempts after which nothing shows that the team's model
   * and agents still worked.
   *
   * @throws MeshError `usage` if it belongs to another set-up, or there is none to resume; `store` if a line in the middle is
   * damaged; `locked` while another process writes it; `io`
   */
  static open({ head: headFile, journal: file }: JournalPaths, head: BatchHead, resumes: boolean): Journal {
    const lock = lockBatch(file, 'another batch');
    try {
      if (resumes) checkSetup(headFile, readBatchHead(headFile).setup, head.setup);
      else if (existsSync(file)) renameSync(file, `${file}.previous`);
      const journal = new Journal(file, lock, resumes);
      // The head is written before the first question is asked, so that a report can be made of an unfinished batch.
      writeWhole(headFile, `${JSON.stringify(head)}\n`);
      return journal;
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
   * @throws MeshError `io` if the disk is full; no further question can be finished then
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

  #forgetDoubts(): void {
    const forgotten = this.#places.forgetDoubts();
    if (forgotten === undefined) return;
    // Results after the first doubt are written again: answers that were running, answers from the cache, and those of later teams.
    const after = forgotten.after.map((place) => this.#log.read(place));
    this.#log.forgetFrom(forgotten.first, forgotten.before);
    for (const attempt of after) this.#places.add({ value: attempt, ...this.#log.append(attempt) });
  }
}

/** Maximum characters of a value in a message. */
const MAX_SHOWN_CHARACTERS = 60;

/**
 * Checks that a resumed batch has the fingerprint it was begun with.
 *
 * @param file the head of that batch, for the message
 * @throws MeshError `usage`, naming the differences
 */
function checkSetup(file: string, then: BatchHead['setup'], now: BatchHead['setup']): void {
  const names = [...new Set([...Object.keys(then), ...Object.keys(now)])].sort();
  const changed = names.filter((name) => then[name] !== now[name]);
  if (changed.length === 0) return;
  const shown = (value: string | undefined) =>
    value === undefined ? 'none' : value.slice(0, MAX_SHOWN_CHARACTERS);
  const list = changed
    .map((name) => `${name}: ${shown(then[name])} then, ${shown(now[name])} now`)
    .join('; ');
  throw new MeshError(
    'usage',
    `--resume: ${file} was started with other settings (${list}): repeat them, or start over without --resume`,
  );
}

/** The results of a batch that is finished, interrupted or still running. */
interface ReadJournal {
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
