import { createHash } from 'node:crypto';
import { MeshError } from '../contracts/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, TASK_FAILED } from '../contracts/packet.ts';
import type { Log } from '../system/log.ts';
import { Random } from '../system/random.ts';
import type { AgentOptions } from './session-options.ts';

/** Lies that an agent tells because of `--faults lie=agent@type`. */
interface Lies {
  /** Types of the packets in which it lies. */
  readonly types: readonly string[];
  readonly seed: number;
}

const ONSETS = 'B Br C D Dr F G Gr H K L M N P R S St T Th V W'.split(' ');
const VOWELS = 'a e i o u ai ea oa'.split(' ');
const CODAS = 'l ld m n nd r rk rn s sk th v'.split(' ');

/**
 * Returns the rewrite that makes an agent lie. The agent's log keeps the true payload; the recording has the
 * lie.
 */
export function createLiar(
  lies: Lies,
  { log }: { readonly log: Pick<Log, 'info'> },
): NonNullable<AgentOptions['rewrite']> {
  return (emission, cause) => {
    if (!lies.types.includes(emission.type) || emission.type === TASK_FAILED) return emission;
    const payload = composeLie(emission.payload, cause.payload, lies);
    log.info({ dir: 'lied', task_id: cause.task_id, type: emission.type, instead_of: emission.payload });
    return { ...emission, payload };
  };
}

/**
 * Returns a payload to send instead of `payload`: of the same type and shape, about the same question, with
 * other names and numbers. Only the seed and the replaced text decide, so an agent repeats the same lie.
 *
 * @throws MeshError `usage` for a payload that states nothing
 */
function composeLie(payload: JsonObject, about: JsonObject, { seed }: Lies): JsonObject {
  const question = findQuestion(payload) ?? findQuestion(about) ?? '';
  const lie = withClaims(payload, question, (claim) => inventClaim(claim, seed));
  if (lie !== payload) return lie;
  throw new MeshError(
    'usage',
    `a lie was requested, but this packet has no text to lie in: its fields are ${Object.keys(payload).join(', ') || 'none'}`,
    { setting: 'faults' },
  );
}

function findQuestion({ question, task }: JsonObject): string | undefined {
  if (typeof question === 'string') return question;
  return isJsonObject(task) ? findQuestion(task) : undefined;
}

function inventClaim(claim: string, seed: number): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([seed, claim.toLowerCase()]))
    .digest();
  const random = new Random(digest.readUIntBE(0, 6));
  if (/^\d+$/.test(claim)) return replaceNumber(claim, random);
  return claim
    .split(' ')
    .map((word) => replaceWord(word, random))
    .join(' ');
}

/** Returns another number with the same number of digits and no additional leading zero. */
function replaceNumber(digits: string, random: Random): string {
  const [first = '0', ...rest] = digits;
  const other = rest.map(() => String(random.bits() % 10));
  // Adding 1 to 8 to a digit from 1 to 9 gives another digit from 1 to 9.
  if (first !== '0') return [1 + ((Number(first) - 1 + 1 + (random.bits() % 8)) % 9), ...other].join('');
  return rest.length === 0 ? String(1 + (random.bits() % 9)) : `0${replaceNumber(rest.join(''), random)}`;
}

function replaceWord(word: string, random: Random): string {
  const pick = (from: readonly string[]) => from[random.bits() % from.length] ?? '';
  const made = `${pick(ONSETS)}${pick(VOWELS)}${pick(CODAS)}${word.length > 4 ? `${pick(VOWELS)}${pick(CODAS)}` : ''}`;
  if (word === word.toUpperCase()) return made.toUpperCase();
  return /^\p{Lu}/u.test(word) ? made : made.toLowerCase();
}

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
function withClaims(payload: JsonObject, question: string, change: (claim: string) => string): JsonObject {
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
