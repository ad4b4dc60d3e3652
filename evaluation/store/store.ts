import type { AttemptOutcome, RecordedAttempt } from '@gaia-mesh/tools/roles/memory/attempt.ts';
import type { AttemptMemory } from '@gaia-mesh/tools/roles/memory/attempt-memory.ts';
import type { ReviewVerdict, StoredGapRecord } from '@gaia-mesh/tools/roles/memory/gap-record.ts';
import type { CacheKey } from './cache-key.ts';

/**
 * Where attempts, gap records and cached answers are kept: an SQLite file by default, or Postgres (OV-38). Several processes may
 * have the same store open. What a call has resolved for is there after a `kill -9`.
 *
 * Every call throws MeshError `store` when the store cannot be read or written, or when what it is given cannot be kept, with
 * what the user can do about it.
 */
export interface Store extends AttemptMemory {
  /** File or address, for messages; never with a password. */
  readonly location: string;

  /** Whole attempts in the order of recording, at most 50 a call; the last one's `id` is the next call's `after`. */
  attempts(filter: AttemptFilter & Page): Promise<RecordedAttempt[]>;

  /** The same without what is large, all of them. More than 100,000 are refused: a report must not leave any out. */
  outcomes(filter: AttemptFilter): Promise<AttemptOutcome[]>;

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

interface Page {
  readonly after?: number;
  /** 1 to 50, by default 50. */
  readonly limit?: number;
}

interface CachedAnswer {
  readonly answer: string;
  /** ISO 8601, UTC. */
  readonly created_at: string;
}

type CacheFilter = Partial<Pick<CacheKey, 'team' | 'model' | 'promptVersion'>>;
