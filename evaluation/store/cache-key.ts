import { createHash } from 'node:crypto';

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

/**
 * Returns the SHA-256 of all parts in hex. They are hashed as a JSON list, because different keys could have the same
 * concatenation.
 */
export function hashCacheKey({ question, fileHash, team, model, promptVersion }: CacheKey): string {
  const parts = JSON.stringify([question, fileHash, team, model, promptVersion]);
  return createHash('sha256').update(parts).digest('hex');
}
