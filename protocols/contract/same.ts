import assert from 'node:assert/strict';
import { inspect, isDeepStrictEqual } from 'node:util';
import { shortenReason } from '@gaia-mesh/core/contracts/packet.ts';

/**
 * Asserts that both are equal in every value. It replaces `assert.deepEqual`, which prints both values in
 * full: for two lists of 70,000 numbers that takes more memory than most machines have.
 *
 * @param what begins the reason
 */
export function assertSame(actual: unknown, expected: unknown, what: string): void {
  if (!isDeepStrictEqual(actual, expected))
    assert.fail(shortenReason(`${what}: ${findDifference(actual, expected, [])}`));
}

function findDifference(actual: unknown, expected: unknown, path: readonly string[]): string {
  const at = path.length === 0 ? '' : `${path.join('.')}: `;
  if (!isObject(actual) || !isObject(expected) || Array.isArray(actual) !== Array.isArray(expected))
    return `${at}expected ${formatValue(expected)}, received ${formatValue(actual)}`;
  const keys = new Set([...Object.keys(expected), ...Object.keys(actual)]);
  for (const key of keys) {
    const inside: readonly string[] = [...path, /^[\w-]{1,64}$/.test(key) ? key : formatValue(key)];
    if (!Object.hasOwn(actual, key)) return `${inside.join('.')} is missing`;
    if (!Object.hasOwn(expected, key)) return `${inside.join('.')} was not sent`;
    const [one, other]: unknown[] = [Reflect.get(actual, key), Reflect.get(expected, key)];
    if (!isDeepStrictEqual(one, other)) return findDifference(one, other, inside);
  }
  return `${at}expected a plain ${Array.isArray(expected) ? 'list' : 'object'}, received another kind of one`;
}

/** Formats the value in one line, cut if it is long. */
export function formatValue(value: unknown): string {
  return inspect(value, { depth: 1, maxArrayLength: 3, maxStringLength: 60, breakLength: Infinity }).slice(
    0,
    200,
  );
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
