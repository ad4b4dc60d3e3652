import { MeshError } from '../../../core/contracts/errors.ts';
import { findColumn, noColumn } from './find-column.ts';
import type { Frame } from './frame.ts';

/** A part of a formula, and where it stands. */
export interface Token {
  readonly kind: 'number' | 'text' | 'quoted' | 'column' | 'word' | 'sign' | 'date' | 'end';
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

export const END: Token = { kind: 'end', text: '', from: 0, to: 0 };

const MAX_TOKENS = 1000;

const SIGNS = /<=|>=|<>|!=|==|&&|\|\||[-+*/%^=<>(),]/y;
const NUMBER = /\d[\d_]*(?:\.\d+)?(?:[eE][-+]?\d{1,3})?|\.\d+/y;
const ISO_DATE = /\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?(?![\d-])/y;
const WORD = /[\p{L}_][\p{L}\p{N}_]*/uy;
const QUOTES: Readonly<Record<string, string>> = {
  "'": "'",
  '"': '"',
  '`': '`',
  '[': ']',
  '“': '”',
  '‘': '’',
};

/**
 * The parts of a formula. Names of the frame's columns are one part each, spaces included; the longest comes first.
 *
 * @throws MeshError `tool`, with the place of what has no meaning
 */
export function tokensOf(text: string, frame: Frame): Token[] {
  const names = frame.columns
    .map(({ name }) => ({ name, low: name.toLowerCase() }))
    .filter(({ name }) => /\p{L}/u.test(name))
    .sort((a, b) => b.name.length - a.name.length);
  const low = text.toLowerCase();
  const tokens: Token[] = [];
  for (let at = 0; at < text.length; ) {
    if (/\s/.test(text[at] ?? '')) {
      at++;
      continue;
    }
    const token = tokenAt(text, at, names.find((one) => standsAt(low, at, one.low))?.name, frame);
    tokens.push(token);
    at = token.to;
    if (tokens.length > MAX_TOKENS) throw new MeshError('tool', `a formula has at most ${MAX_TOKENS} parts`);
  }
  return [...tokens, { ...END, from: text.length, to: text.length }];
}

function tokenAt(text: string, at: number, name: string | undefined, frame: Frame): Token {
  const made = (kind: Token['kind'], to: number, content = text.slice(at, to)): Token => ({
    kind,
    text: content,
    from: at,
    to,
  });
  const date = matchAt(ISO_DATE, text, at);
  if (date !== undefined) return made('date', at + date.length);
  if (name !== undefined) return made('column', at + name.length, name);
  const closing = QUOTES[text[at] ?? ''];
  if (closing !== undefined) return quotedAt(text, at, closing, frame, made);
  const number = matchAt(NUMBER, text, at);
  if (number !== undefined) return made('number', at + number.length);
  const word = matchAt(WORD, text, at);
  if (word !== undefined) {
    const isKeyword = KEYWORDS.has(word.toLowerCase());
    const isLetter = /^[A-Z]{1,3}$/.test(word) && !isKeyword && text[at + word.length] !== '(';
    const column = isLetter ? findColumn(frame, word) : undefined;
    return column === undefined
      ? made('word', at + word.length)
      : made('column', at + word.length, column.name);
  }
  const sign = matchAt(SIGNS, text, at);
  if (sign !== undefined) return made('sign', at + sign.length);
  throw new MeshError(
    'tool',
    `formula ${JSON.stringify(text.slice(0, 200))}: character ${at + 1}, ${JSON.stringify(text[at])}, has no meaning in a formula`,
  );
}

const KEYWORDS = new Set('and or not in is null as asc desc like between contains true false'.split(' '));

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

/** A column's name, and not the beginning of a longer word or the name of a function. Both in small letters. */
function standsAt(text: string, at: number, name: string): boolean {
  if (!text.startsWith(name, at)) return false;
  const isWord = (sign: string | undefined) => sign !== undefined && /[\p{L}\p{N}_]/u.test(sign);
  const after = text[at + name.length];
  if (isWord(name.at(-1)) && isWord(after)) return false;
  return !(after === '(' && /^[\p{L}_]+$/u.test(name));
}

function quotedAt(
  text: string,
  at: number,
  closing: string,
  frame: Frame,
  made: (kind: Token['kind'], to: number, content?: string) => Token,
): Token {
  let content = '';
  for (let end = at + 1; end < text.length; end++) {
    if (text[end] !== closing) {
      content += text[end];
      continue;
    }
    if (text[end + 1] === closing && closing !== ']') {
      content += closing;
      end++;
      continue;
    }
    const isText = closing === "'" || closing === '’';
    const column = isText ? undefined : findColumn(frame, content);
    if (column !== undefined) return made('column', end + 1, column.name);
    if (!isText && closing !== '"' && closing !== '”') throw new MeshError('tool', noColumn(frame, content));
    return made(isText ? 'text' : 'quoted', end + 1, content);
  }
  throw new MeshError(
    'tool',
    `formula ${JSON.stringify(text.slice(0, 200))}: the quote at character ${at + 1} is never closed`,
  );
}
