import type { JsonObject, JsonValue } from './packet.ts';

/**
 * Fields in which an agent repeats its input or describes itself; the texts of all other fields hold its
 * claims.
 */
const NO_CLAIMS = new Set(
  'question document chunks file file_name file_outline tools tool by kind role type question_type code id usage ended'.split(
    ' ',
  ),
);
const ANSWERS = new Set(['answer', 'raw_answer', 'final_answer']);
const STATED = /FINAL ANSWER:[ \t]*([^\n]+)/gi;
/** Numbers, and names of one or more words. */
const CLAIM = /\d+|\p{Lu}[\p{L}\p{M}'’-]*\p{L}(?: \p{Lu}[\p{L}\p{M}'’-]*\p{L})*/gu;
/** Words that begin with a capital for other reasons than being a name. */
const NO_NAMES = new Set(
  `FINAL ANSWER NOT FOUND NEEDS MORE The A An In On At By It Its He She They We You This That These Those There Here What Who Whom Whose
   Which Where When Why How Is Are Was Were Do Does Did Has Have Had And Or But If Of For From To With As No Yes None Strategy Parts Step`.split(
    /\s+/,
  ),
);

/** Returns the value with `change` applied to every text that states something. */
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

/** Returns the answers that a payload states, in an answer field or behind `FINAL ANSWER:`. */
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

/**
 * Replaces one text by another wherever a payload states it, alone or within a longer text. Returns the same
 * object if the payload states it nowhere.
 */
export function withText(payload: JsonObject, from: string, to: string): JsonObject {
  const pattern = new RegExp(
    `(?<![\\p{L}\\p{N}])${from.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')}(?![\\p{L}\\p{N}])`,
    'giu',
  );
  return mapTexts(payload, (text) => text.replace(pattern, () => to));
}

/**
 * Returns a payload with other claims: `change` replaces each number and name in its texts, and each answer
 * that has neither. Claims that stand in the `question` are kept: a reply about something else is no reply.
 * Returns the same object if there is nothing to change.
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
  // The payload has no names, numbers or answer: replace the last word of each text.
  result = mapTexts(payload, (text) => text.replace(/(?<=\s)\p{L}{4,}(?=\P{L}*$)/u, changed));
  return isChanged ? result : payload;
}

function extractClaims(text: string): string[] {
  return [...text.matchAll(CLAIM)].flatMap(([match]) =>
    splitNames(match).flatMap(({ text: part, isName }) => (isName ? [part] : [])),
  );
}

/** Splits `The Torn Bridge` into `The`, which is no name, and `Torn Bridge`. */
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
