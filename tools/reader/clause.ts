import type { Sentence } from './sentence-schema.ts';
import type { TokenSpan } from './span-model.ts';
import { tagNumber } from './span-shapes.ts';
import type { Token } from './tag-words.ts';

export type Clause = { subject: string; relation: string };

const MAX_PART_CHARS = 48;
const VERB = tagNumber('VERB');
const AUX = tagNumber('AUX');
const PRON = tagNumber('PRON');
const PUNCT = tagNumber('PUNCT');

/** Subject and relation of the clause a span stands in; a pronoun subject is replaced by the heading above. */
export function readClause(sentence: Sentence, tokens: readonly Token[], span: TokenSpan): Clause {
  const verb = nearestVerb(tokens, span.from - 1, -1);
  if (verb >= 0) {
    const group = verbStart(tokens, verb);
    return {
      subject: subjectBefore(sentence, tokens, group),
      relation: cut(sentence, tokens, group, span.from - 1),
    };
  }
  const next = nearestVerb(tokens, span.to + 1, 1);
  if (next < 0) return { subject: sentence.heading?.slice(0, MAX_PART_CHARS) ?? '', relation: '' };
  const rest = Math.min(tokens.length - 1, next + 6);
  return {
    subject: cut(sentence, tokens, next + 1, rest),
    relation: `~${tokens[next]?.text ?? ''}`.slice(0, MAX_PART_CHARS),
  };
}

function nearestVerb(tokens: readonly Token[], from: number, step: 1 | -1): number {
  for (let at = from; at >= 0 && at < tokens.length; at += step) {
    const tag = tokens[at]?.tag;
    if (tag === VERB || tag === AUX) return at;
  }
  return -1;
}

/** First word of the verb group ("had been", "was later built") that ends at `verb`. */
function verbStart(tokens: readonly Token[], verb: number): number {
  let start = verb;
  while (start > 0 && (tokens[start - 1]?.tag === AUX || tokens[start - 1]?.tag === VERB)) start--;
  return start;
}

function subjectBefore(sentence: Sentence, tokens: readonly Token[], verb: number): string {
  let start = verb;
  while (start > 0 && verb - start < 8) {
    const tag = tokens[start - 1]?.tag;
    if (tag === VERB || tag === AUX || tag === PUNCT) break;
    start--;
  }
  if (verb - start <= 1 && sentence.heading !== undefined && tokens[start]?.tag === PRON) {
    return sentence.heading.slice(0, MAX_PART_CHARS);
  }
  return cut(sentence, tokens, start, verb - 1);
}

function cut(sentence: Sentence, tokens: readonly Token[], from: number, to: number): string {
  const start = tokens[from]?.start;
  const end = tokens[to]?.end;
  if (start === undefined || end === undefined || end <= start) return '';
  return sentence.text.slice(start, Math.min(end, start + MAX_PART_CHARS));
}
