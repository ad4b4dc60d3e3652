import { element } from './dom.js';

/** By the letter of the data: sign, class and word. A letter in upper case is an answer from the cache. */
const MARKS = /** @type {Readonly<Record<string, readonly [sign: string, kind: string, word: string]>>} */ ({
  r: ['✓', 'right', 'right'],
  w: ['✗', 'wrong', 'wrong'],
  f: ['!', 'failed', 'failed'],
  t: ['T', 'late', 'out of time'],
  u: ['?', 'unknown', 'answered, true answer not known'],
  '-': ['·', 'unasked', 'not asked'],
});

/** @param {string | undefined} letter */
function partsOf(letter = '-') {
  return MARKS[letter.toLowerCase()] ?? ['·', 'unasked', 'not asked'];
}

/** @param {string | undefined} letter */
function isCached(letter = '-') {
  return letter !== letter.toLowerCase();
}

/** @param {string | undefined} letter */
export function markWord(letter) {
  return `${partsOf(letter)[2]}${isCached(letter) ? ', from the cache' : ''}`;
}

/**
 * @param {string | undefined} letter
 * @param {string} title
 * @param {string} [team]
 */
export function markOf(letter, title, team) {
  const [sign, kind] = partsOf(letter);
  return element(
    'span',
    { class: `mark ${kind}`, title, ...(team === undefined ? {} : { 'data-team': team }) },
    sign,
    isCached(letter) ? element('sup', {}, 'c') : null,
  );
}

/** What the signs mean. */
export function marksKey() {
  return element(
    'p',
    { class: 'key note' },
    ...Object.keys(MARKS).map((letter) =>
      element('span', { class: 'key-item' }, markOf(letter, ''), ` ${partsOf(letter)[2]}`),
    ),
    element('span', { class: 'key-item' }, element('sup', {}, 'c'), ' from the cache'),
  );
}
