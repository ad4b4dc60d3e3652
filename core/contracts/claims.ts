import type { JsonObject, JsonValue } from './packet.ts';

/** What an agent repeats or says about itself; whatever else a payload's texts hold is what it claims. */
const NO_CLAIMS = new Set(
  'question document chunks file file_name file_outline tools tool by kind role type question_type code id usage ended'.split(
    ' ',
  ),
);
const ANSWERS = new Set(['answer', 'raw_answer', 'final_answer']);
const STATED = /FINAL ANSWER:[ \t]*([^\n]+)/gi;
/** Numbers, and names of one word or several. */
const CLAIM = /\d+|\p{Lu}[\p{L}\p{M}'’-]*\p{L}(?: \p{Lu}[\p{L}\p{M}'’-]*\p{L})*/gu;
/** With a capital for other reasons than being a name. */
const NO_NAMES = new Set(
  `FINAL ANSWER NOT FOUND NEEDS MORE The A An In On At By It Its He She They We You This That These Those There Here What Who Whom Whose
   Which Where When Why How Is Are Was Were Do Does Did Has Have Had And Or But If Of For From To With As No Yes None Strategy Parts Step`.split(
    /\s+/,
  ),
);

/** Every text in a value that states something, changed by `change`. */
function mapTexts(value: JsonObject, change: (text: string, key: string) => string): JsonObject {
  const walk = (part: JsonValue, key: string): JsonValue => {
    if (typeof part === 'string') return change(part, key);
    if (Array.isArray(part)) return part.map((item) => walk(item, key));
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(
      Object.entries(part).map(([name, inner]) => [name, NO_CLAIMS.has(name) ? inner : walk(inner, name)]),
    );
  };
  return walk(value, '') as JsonObject;
}

/** The answers that a payload states: by a field of that name, or behind `FINAL ANSWER:`. */
export function extractAnswers(payload: JsonObject): string[] {
  const found = new Set<string>();
  mapTexts(payload, (text, key) => {
    const stated = [...text.matchAll(STATED)].map(([, answer = '']) => answer.trim());
    if (stated.length > 0) for (const answer of stated) found.add(answer);
    else if (ANSWERS.has(key)) found.add(text.trim());
    return text;
  });
  return [...found].filter((answer) => answer !== '');
}

/** One text for another wherever a payload states it, by itself or within a text; the payload itself where it states it nowhere. */
export function withText(payload: JsonObject, from: string, to: string): JsonObject {
  const pattern = new RegExp(
    `(?<![\\p{L}\\p{N}])${from.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')}(?![\\p{L}\\p{N}])`,
    'giu',
  );
  return mapTexts(payload, (text) => text.replace(pattern, () => to));
}

/**
 * A payload with other claims: each number and name in its texts, and each answer that has neither, becomes what `change` says. What stands
 * in the `question` is not touched: a reply that is about something else is no reply. The same object where there is nothing to change.
 */
export function withClaims(
  payload: JsonObject,
  question: string,
  change: (claim: string) => string,
): JsonObject {
  const asked = new Set(extractClaims(question).map((claim) => claim.toLowerCase()));
  const isClaim = (text: string) => !asked.has(text.toLowerCase());
  let isChanged = false;
  const changed = (claim: string) => {
    isChanged = true;
    return change(claim);
  };
  const plain = extractAnswers(payload).filter(
    (answer) => extractClaims(answer).filter(isClaim).length === 0,
  );
  let result = plain.reduce((so, answer) => withText(so, answer, changed(answer)), payload);
  result = mapTexts(result, (text) =>
    text.replace(CLAIM, (match) =>
      splitNames(match)
        .map(({ text: part, isName }) => (isName && isClaim(part) ? changed(part) : part))
        .join(''),
    ),
  );
  if (isChanged) return result;
  // Neither names, numbers nor an answer: the last word of each text.
  result = mapTexts(payload, (text) => text.replace(/(?<=\s)\p{L}{4,}(?=\P{L}*$)/u, changed));
  return isChanged ? result : payload;
}

function extractClaims(text: string): string[] {
  return [...text.matchAll(CLAIM)].flatMap(([match]) =>
    splitNames(match).flatMap(({ text: part, isName }) => (isName ? [part] : [])),
  );
}

/** `The Torn Bridge` is `The`, which is no name, and `Torn Bridge`. */
function splitNames(match: string): { text: string; isName: boolean }[] {
  const parts: { text: string; isName: boolean }[] = [];
  for (const word of match.split(/(?<= )/)) {
    const isName = !NO_NAMES.has(word.trim());
    const last = parts.at(-1);
    if (last?.isName === true && isName) last.text += word;
    else parts.push({ text: word, isName });
  }
  return parts.flatMap(({ text, isName }) => {
    const bare = text.trimEnd();
    return [{ text: bare, isName }, ...(bare === text ? [] : [{ text: ' ', isName: false }])];
  });
}
