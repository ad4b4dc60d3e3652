import { expect, it } from 'vitest';
import { splitOnSpace, stripAsciiPunctuation, stripSpace, trimSpaceEnd } from './python-text.ts';

const spaces =
  '\t\n\u000b\f\r\u001c\u001d\u001e\u001f \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005' +
  '\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000';
const lookalikes = '\u0000\u180e\u200b\u200c\u200d\u2060\ufeff';

it('takes for white space what Python does, and nothing that only looks like it', () => {
  expect(stripSpace(spaces)).toBe('');
  expect(stripSpace(lookalikes)).toBe(lookalikes);
  expect(splitOnSpace([...spaces].join('x'))).toHaveLength(spaces.length - 1);
  expect(splitOnSpace(` ${lookalikes}\n`)).toEqual([lookalikes]);
  expect(splitOnSpace(spaces)).toEqual([]);
  expect(trimSpaceEnd(` x${spaces}`)).toBe(' x');
  expect(trimSpaceEnd(spaces)).toBe('');
});

it('takes for punctuation the 32 ASCII characters only', () => {
  const ascii = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~';
  expect(ascii).toHaveLength(32);
  expect(stripAsciiPunctuation(`a${ascii}b`)).toBe('ab');
  expect(stripAsciiPunctuation('“–…·’¿，')).toBe('“–…·’¿，');
});
