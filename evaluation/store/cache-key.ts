import { createHash } from 'node:crypto';

/** What an answer depends on, and so what a cached one is kept under (decided: C-11). */
export interface CacheKey {
  readonly question: string;
  /** SHA-256 of the attached file in hex; null where the question has none. */
  readonly fileHash: string | null;
  readonly team: string;
  readonly model: string;
  /** Changes whenever a prompt of the team does. */
  readonly promptVersion: string;
}

/** SHA-256 in hex of all parts. As a JSON list, because joined texts of two different keys can be the same. */
export function hashCacheKey({ question, fileHash, team, model, promptVersion }: CacheKey): string {
  const parts = JSON.stringify([question, fileHash, team, model, promptVersion]);
  return createHash('sha256').update(parts).digest('hex');
}
