import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { InvalidArgumentError } from 'commander';

/**
 * The parsers of this file check option values at the edge. Each throws an error that commander prints with the
 * option's name.
 */

export function parsePositiveInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1)
    throw new InvalidArgumentError('expected a whole number from 1.');
  return value;
}

/** Collects the values of an option that may be repeated. */
export const collectTexts = (text: string, before: readonly string[] = []): string[] => [...before, text];

/** Collects the whole numbers of an option that takes several values. */
export function collectPositiveIntegers(text: string, before: readonly number[] = []): number[] {
  return [...before, parsePositiveInteger(text)];
}

export function parsePositiveNumber(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value <= 86_400))
    throw new InvalidArgumentError('expected seconds, above 0 and at most 86400.');
  return value;
}

export function parseShare(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value > 0 && value <= 1))
    throw new InvalidArgumentError('expected a share above 0, at most 1.');
  return value;
}

export function parseDollars(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value > 0 && Number.isFinite(value)))
    throw new InvalidArgumentError('expected US dollars, above 0.');
  return value;
}

export function parsePortBase(text: string): number | 'auto' {
  if (text === 'auto') return 'auto';
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 65_535) {
    throw new InvalidArgumentError('expected a port from 1 to 65535, or auto.');
  }
  return value;
}

/** Splits `1, 2` into [`1`, `2`]. */
export function parseList(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** Parses the address of a store. It does not throw commander's own error, which would repeat the password. */
export function parseStoreAddress(text: string): string {
  const url = /^postgres(ql)?:/i.test(text) ? URL.parse(text) : null;
  if (url === null || url.password === '') return text;
  throw new MeshError(
    'usage',
    '--store: every user of this machine can read a password on a command line: leave it out of the address, and set ' +
      'PGPASSWORD in the environment (or add it to ~/.pgpass)',
  );
}
