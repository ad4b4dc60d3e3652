import { mix } from '../hash.ts';
import { MARK, TAGS, type Tag, type Token } from '../language/tag-words.ts';

const NUMBER_OF = new Map<Tag, number>(TAGS.map((tag, index) => [tag, index]));
export function toTagNumber(tag: Tag): number {
  return NUMBER_OF.get(tag) ?? 0;
}

const NOUN = toTagNumber('NOUN');
const PROPN = toTagNumber('PROPN');
const NUM = toTagNumber('NUM');
const ADP = toTagNumber('ADP');
const VERB = toTagNumber('VERB');
const AUX = toTagNumber('AUX');
const SCONJ = toTagNumber('SCONJ');
const PART = toTagNumber('PART');

/** Length classes: 1, 2, 3–4, 5–8 and more tokens. */
const LENGTHS = [0, 1, 2, 3, 3, 4, 4, 4, 4];

/**
 * Classifies the look of a candidate answer independently of its words: "a year", "two capitalised words", "a clause".
 */
export function classifySpan(tokens: readonly Token[], from: number, to: number): number {
  let marks = 0;
  let capitals = 0;
  let digits = 0;
  let lowers = 0;
  let verbs = 0;
  for (let at = from; at <= to; at++) {
    const token = tokens[at];
    if (token === undefined) continue;
    marks |= token.marks;
    if (token.capital) capitals++;
    else if (token.tag === NOUN || token.tag === VERB) lowers++;
    if (token.digit) digits++;
    if (token.tag === VERB || token.tag === AUX) verbs++;
  }
  const words = to - from + 1;
  const first = tokens[from]?.tag ?? 0;
  const length = (LENGTHS[words] ?? 5) * 2 + ((marks & MARK.list) !== 0 ? 1 : 0);
  const led = first === ADP || first === SCONJ ? 1 : 0;
  const has = (mark: number): boolean => (marks & mark) !== 0;
  const name = (form: number, detail: number): number => mix((form * 2 + led) * 16 + length, detail);

  if (has(MARK.month) && words <= 8)
    return name(1, (has(MARK.year) ? 1 : 0) + (digits > 1 || !has(MARK.year) ? 2 : 0));
  if (has(MARK.money)) return name(2, 0);
  if (has(MARK.percent)) return name(3, 0);
  if (has(MARK.year) && words <= 3 + led) return name(4, 0);
  if (digits > 0 && capitals === 0) return name(5, lowers > 0 ? 1 : 0);
  if (has(MARK.numeral) && capitals <= 1) return name(6, lowers > 0 ? 1 : 0);
  if (has(MARK.quote)) return name(7, 0);
  if (first === PART) return name(8, 0);
  if (verbs > 0) return name(9, first === VERB ? 1 : 0);
  if (led === 1) return name(10, capitals > 0 ? 1 : 0);
  if (capitals > 0 && lowers === 0) return name(11, digits > 0 ? 1 : 0);
  if (capitals > 0) return name(12, 0);
  if (first === NOUN || lowers > 0) return name(13, tokens[to]?.lower.endsWith('s') === true ? 1 : 0);
  return name(14, first);
}

export const PATH_TAGS = 5;

/** Hashes the part-of-speech tags of tokens from..to; repeats are folded and at most `limit` tags count. */
export function hashTagPath(tokens: readonly Token[], from: number, to: number, limit: number): number {
  let hash = 17;
  let previous = -1;
  let kept = 0;
  for (let at = from; at <= to && kept < limit; at++) {
    const tag = tokens[at]?.tag ?? -1;
    if (tag === previous) continue;
    hash = mix(hash, tag);
    previous = tag;
    kept++;
  }
  return hash;
}

/** Finds the word that says what the span is: the last noun, name or number before its first preposition. */
export function findHead(tokens: readonly Token[], from: number, to: number): number {
  let head = -1;
  for (let at = from; at <= to; at++) {
    const tag = tokens[at]?.tag;
    if (head >= 0 && tag === ADP) break;
    if (tag === NOUN || tag === PROPN || tag === NUM) head = at;
  }
  return head < 0 ? to : head;
}
