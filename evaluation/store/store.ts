import type {
  AttemptMemory,
  RecordedAttempt,
  ReviewVerdict,
  StoredGapRecord,
} from '@gaia-mesh/tools/roles/memory/attempt.ts';
import type * as z from 'zod';
import type { answerUseSchema } from './answer-use.ts';

/**
 * The store of attempts, gap records and cached answers: an SQLite file by default, or Postgres (OV-38). Several processes may
 * have the same store open. Data is durable once its call has resolved, even after a `kill -9`.
 *
 * Every call throws MeshError `store` with advice for the user if the store cannot be read or written, or cannot hold the given
 * value.
 */
export interface Store extends AttemptMemory {
  /** File or address, for messages; never with a password. */
  readonly location: string;

  /** Returns whole attempts in the order of recording, at most 50 per call; the last one's `id` is the next call's `after`. */
  attempts(after?: number): Promise<RecordedAttempt[]>;

  /** Returns gap records in the order of storing, at most 50 per call; the last one's `id` is the next call's `after`. */
  gapRecordPage(after?: number): Promise<StoredGapRecord[]>;

  /** Records a person's decision, which may be changed later. Returns the updated record. */
  reviewGapRecord(id: number, verdict: ReviewVerdict): Promise<StoredGapRecord>;

  cachedAnswer(key: CacheKey): Promise<CachedAnswer | undefined>;

  /** Stores an answer and what it took, replacing an older one. An empty answer is refused. */
  cacheAnswer(key: CacheKey, answer: string, took?: AnswerUse): Promise<void>;

  /** Returns the newest answer of each question, at most 100,000: the content of `agent_cache.json` (RA-07). */
  exportCache(filter?: CacheFilter): Promise<Map<string, string>>;

  /**
   * Imports answers that were exported, under the keys that `keyOf` returns. Existing answers are kept. Returns the number of new
   * ones.
   */
  importCache(answers: ReadonlyMap<string, string>, keyOf: (question: string) => CacheKey): Promise<number>;

  close(): Promise<void>;
}

/** Everything that an answer depends on, which is the key of a cached answer (decided: C-11). */
export interface CacheKey {
  readonly question: string;
  /** SHA-256 of the attached file in hex; null if the question has none. */
  readonly fileHash: string | null;
  readonly team: string;
  readonly model: string;
  /** Changes whenever a prompt of the team changes. */
  readonly promptVersion: string;
}

export interface StoreOptions {
  /** Receives warnings about faults that do not stop the work, such as a corrupt file that was set aside. */
  readonly warn: (message: string) => void;
  readonly now?: () => Date;
  /** Milliseconds for which a busy SQLite file is retried. */
  readonly busyTimeoutMs?: number | undefined;
  /** Maximum connections to Postgres. */
  readonly connections?: number;
}

type AnswerUse = Readonly<z.infer<typeof answerUseSchema>>;

interface CachedAnswer {
  readonly answer: string;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  /** Null if it is not known: the answer was imported, or stored by an earlier version. */
  readonly took: AnswerUse | null;
}

type CacheFilter = Partial<Pick<CacheKey, 'team' | 'model' | 'promptVersion'>>;
