import { createHash, timingSafeEqual } from 'node:crypto';

/** Whether two texts are the same; how long it takes says nothing of them. Digests, because the comparison wants the same length of both. */
export function isSameSecret(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}
