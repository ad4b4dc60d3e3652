import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * Compares two texts in a time that reveals nothing about them. It compares digests, because
 * `timingSafeEqual` requires equal lengths.
 */
export function isSameSecret(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}
