import type { Attempt, AttemptOutcome, RecordedAttempt } from './attempt.ts';
import type { CacheKey } from './cache-key.ts';
import type { GapRecord, ReviewVerdict, StoredGapRecord } from './gap-record.ts';
import type { Leak, Secrets } from './leak-check.ts';

/**
 * Where attempts, gap records and cached answers are kept: an SQLite file by default, or Postgres (OV-38). Several processes may
 * have the same store open. What a call has resolved for is there after a `kill -9`.
 *
 * Every call throws MeshError `store` when the store cannot be read or written, or when what it is given cannot be kept, with
 * what the user can do about it.
 */
export interface Store {
  /** File or address, for messages; never with a password. */
  readonly location: string;

  /** Keeps an attempt, right or wrong (OV-20), and returns its number: 1 for the team's first at this question. */
  recordAttempt(attempt: Attempt): Promise<number>;

  /** Whole attempts in the order of recording, at most 50 a call; the last one's `id` is the next call's `after`. */
  attempts(filter: AttemptFilter & Page): Promise<RecordedAttempt[]>;

  /** The same without what is large, all of them. More than 100,000 are refused: a report must not leave any out. */
  outcomes(filter: AttemptFilter): Promise<AttemptOutcome[]>;

  /**
   * Keeps a gap record for the very next plan (OV-15) and in the row of its attempt (OV-36), which must be recorded already. One
   * that tells the answer, or what the question names, is not stored (OV-12).
   */
  addGapRecord(record: GapRecord, origin: GapOrigin): Promise<GapReceipt>;

  /** What the planner may see for a question, most relevant first: planning hints, and what a person approved (OV-16, OV-19). */
  gapRecords(query: GapQuery): Promise<StoredGapRecord[]>;

  /** Gap records in the order of storing, at most 50 a call; the last one's `id` is the next call's `after`. */
  gapRecordPage(page: Page): Promise<StoredGapRecord[]>;

  /** A person's decision, which may be changed later. Returns the record as it is now. */
  reviewGapRecord(id: number, verdict: ReviewVerdict): Promise<StoredGapRecord>;

  cachedAnswer(key: CacheKey): Promise<CachedAnswer | undefined>;

  /** Keeps an answer, instead of an older one. An empty answer is refused. */
  cacheAnswer(key: CacheKey, answer: string): Promise<void>;

  /** Answers by question, the newest of each, at most 100,000: what `agent_cache.json` holds (RA-07). */
  exportCache(filter?: CacheFilter): Promise<Map<string, string>>;

  /** Keeps answers that were exported once, under the key that `keyOf` finds; those that are there stay. Returns how many are new. */
  importCache(answers: ReadonlyMap<string, string>, keyOf: (question: string) => CacheKey): Promise<number>;

  close(): Promise<void>;
}

export interface AttemptFilter {
  readonly run_id?: string;
  readonly team?: string;
  readonly task_id?: string;
  readonly attempt_id?: string;
}

export interface Page {
  readonly after?: number;
  /** 1 to 50, by default 50. */
  readonly limit?: number;
}

export interface GapOrigin extends Secrets {
  /** The attempt that it was abstracted from; null where a person wrote it. */
  readonly attempt_id: string | null;
}

export type GapReceipt =
  | { readonly stored: true; readonly id: number }
  | { readonly stored: false; readonly leaks: readonly Leak[] };

export interface GapQuery {
  readonly questionType: string;
  readonly question: string;
  /** 1 to 50. */
  readonly limit: number;
}

export interface CachedAnswer {
  readonly answer: string;
  /** ISO 8601, UTC. */
  readonly created_at: string;
}

export type CacheFilter = Partial<Pick<CacheKey, 'team' | 'model' | 'promptVersion'>>;
