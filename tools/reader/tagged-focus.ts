import type { Question } from './question.ts';
import { tagNumber } from './span-shapes.ts';
import type { Token } from './tag-words.ts';

const IN_GROUP = new Set([
  tagNumber('NOUN'),
  tagNumber('PROPN'),
  tagNumber('ADJ'),
  tagNumber('NUM'),
  tagNumber('PART'),
]);
const NAMES_GROUP = new Set([tagNumber('NOUN'), tagNumber('PROPN')]);
// "What TYPE of fuel" asks for a fuel.
const EMPTY_NOUNS = /^(?:types?|kinds?|sorts?|forms?|names?|titles?|number|amount|one|pair|part|piece)$/;
const MAX_GROUP_TOKENS = 7;

/**
 * The noun that names the answer's class, read with part-of-speech tags: they tell "which team WON it" from
 * "which team COLOURS", which parseQuestion, without a tagger, cannot. Falls back to what that found.
 */
export function taggedFocus(question: Question, tokens: readonly Token[]): string {
  if (!/^(?:what|count|amount|degree)$/.test(question.kind)) return question.focus;
  const wh = tokens.findIndex((token) => /^(?:what|which|how)$/.test(token.lower));
  if (wh < 0) return question.focus;
  let at = wh + (question.kind === 'what' ? 1 : 2);
  if (/^(?:is|are|was|were|'s)$/.test(tokens[at]?.lower ?? '')) {
    at++;
    if (!/^(?:the|a|an|one|another)$/.test(tokens[at]?.lower ?? '')) return '';
    at++;
  }
  const group = nounGroup(tokens, at);
  if (EMPTY_NOUNS.test(group.noun) && tokens[group.end]?.lower === 'of') {
    const article = /^(?:the|a|an)$/.test(tokens[group.end + 1]?.lower ?? '') ? 1 : 0;
    const inner = nounGroup(tokens, group.end + 1 + article);
    if (inner.noun !== '') return inner.noun;
  }
  return group.noun === '' && question.kind !== 'degree' ? question.focus : group.noun;
}

function nounGroup(tokens: readonly Token[], from: number): { noun: string; end: number } {
  let noun = '';
  let at = from;
  for (; at < Math.min(tokens.length, from + MAX_GROUP_TOKENS); at++) {
    const token = tokens[at];
    if (token === undefined || !IN_GROUP.has(token.tag)) break;
    if (NAMES_GROUP.has(token.tag)) noun = token.lower;
  }
  return { noun, end: at };
}
