/** Replies of models have a bound of their own; what is looked for stands at the end. */
const MAX_CHARACTERS = 200_000;

/** JSON in JSON, and an answer that is wrapped once more: `{"answer": {"answer": "4"}}`. Nobody wraps deeper. */
const MAX_WRAPS = 4;

/** Layers around an answer: "FINAL ANSWER: \\boxed{4}" has two. What has more than this was made to have them. */
const MAX_ROUNDS = 16;

/**
 * The answer alone, out of whatever a model wrote around it (SV-18, RA-11). The same for every team, and the question plays no part in
 * it. Stages: reasoning and JSON go, then the last `FINAL ANSWER:` counts, else a box, a tag or "the answer is …", else the
 * text as it is; markdown, one pair of brackets or quotes and a full stop are stripped. What has been cleaned stays as it is
 * when it is cleaned again.
 *
 * @returns null where nothing is left: an answer is never empty (RA-12), so whoever asked has to ask again or say so
 */
export function cleanAnswer(text: string): string | null {
  let answer = cleanOnce(text);
  for (let round = 1; round < MAX_ROUNDS && answer !== null; round++) {
    const again = cleanOnce(answer);
    if (again === answer) break;
    answer = again;
  }
  return answer;
}

/** Whether a reply says which of its words are the answer; without that it may be an answer, or only talk on the way to one. */
export function hasStatedAnswer(text: string): boolean {
  const bare = stripReply(text);
  if (cleanAnswer(bare) === null) return false;
  const block = findLastBlock(bare);
  return (
    parseJsonAnswer(bare) !== undefined ||
    findMarkedAnswer(bare) !== undefined ||
    matchAnswer(bare) !== undefined ||
    (block !== undefined && parseJsonAnswer(block) !== undefined)
  );
}

function cleanOnce(text: string): string | null {
  return cleanText(stripReply(text), MAX_WRAPS);
}

/** Ends of turns, which servers with a wrong template leave in the text. */
const END_TOKENS = /(?:\s*(?:<\|[\w-]{1,40}\|>|<\/s>|<end_of_turn>))+\s*$/;

function stripReply(text: string): string {
  return stripThoughts(text.slice(-MAX_CHARACTERS)).trim().replace(END_TOKENS, '');
}

function cleanText(text: string, wraps: number): string | null {
  if (text === '') return null;
  if (wraps > 0) {
    const unwrapped = parseJsonAnswer(text) ?? parseFencedAnswer(text);
    if (unwrapped !== undefined) return cleanText(unwrapped.trim(), wraps - 1);
  }
  const marked = findMarkedAnswer(text);
  if (marked !== undefined) {
    const json = wraps > 0 ? (parseJsonAnswer(marked.whole) ?? parseFencedAnswer(marked.whole)) : undefined;
    return json === undefined ? validateAnswer(marked.line) : cleanText(json.trim(), wraps - 1);
  }
  if (wraps > 0) {
    const block = findLastBlock(text);
    const json = block === undefined ? undefined : parseJsonAnswer(block);
    if (json !== undefined) return cleanText(json.trim(), wraps - 1);
  }
  return validateAnswer(matchAnswer(text) ?? text.replace(EMPTY_MARK, ''));
}

/** What reasoning models put before their reply; one that was cut off at the front has only the closing tag. */
function stripThoughts(text: string): string {
  const end = text.lastIndexOf('</think>');
  return end < 0 ? text : text.slice(end + '</think>'.length);
}

/** With a colon, or alone on its line as a heading. */
const MARK =
  /final[ \t_]+answer[ \t]*(?:\*\*|__)?[ \t]*[:：][ \t]*(?:\*\*|__)?|^[#*_ \t]{0,9}final[ \t_]+answer[*_ \t]{0,9}$/gim;

/** A mark with nothing behind it, or with the words of the template. */
const EMPTY_MARK =
  /\*{0,3}final[ \t_]+answer\*{0,3}[ \t]*[:：]\*{0,3}\s*(?:\[?your final answer\]?\.?)?\s*$/i;

/** The last mark that has something after it; models repeat the template, and sometimes end with it. */
function findMarkedAnswer(text: string): { line: string; whole: string } | undefined {
  for (const mark of [...text.matchAll(MARK)].reverse()) {
    const whole = text.slice(mark.index + mark[0].length).trim();
    const line = whole.split(/\r?\n/, 1)[0] ?? '';
    if (validateAnswer(line) !== null) return { line, whole };
  }
  return undefined;
}

const ANSWER_KEYS = ['final_answer', 'answer', 'model_answer', 'submitted_answer', 'result', 'response'];

/** The answer in a text that is JSON as a whole; undefined where it is none, or none with an answer. */
function parseJsonAnswer(text: string): string | undefined {
  if (!/^[[{"]/.test(text)) return undefined;
  try {
    return readAnswerField(JSON.parse(text));
  } catch {
    // Models forget a comma or quote with the wrong marks; the member itself is mostly whole.
    if (!text.startsWith('{')) return undefined;
    const member =
      /["'](?:final[_ ]answer|answer)["']\s*:\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|(-?\d[\d.]*))/i.exec(text);
    return member?.[1] ?? member?.[2] ?? member?.[3];
  }
}

function readAnswerField(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) {
    const items = value.map(readAnswerField);
    return items.every((item) => item !== undefined) ? items.join(', ') : undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const members = new Map(
    Object.entries(value).map(([key, member]) => [key.toLowerCase().replace(/[\s-]/g, '_'), member]),
  );
  const key = ANSWER_KEYS.find((name) => members.has(name));
  if (key !== undefined) return readAnswerField(members.get(key));
  return Object.values(value).find(
    (member) => typeof member === 'string' && findMarkedAnswer(member) !== undefined,
  );
}

/** A reply that is one code block. */
function parseFencedAnswer(text: string): string | undefined {
  return /^```[\w-]*[ \t]*\r?\n?([\s\S]*?)\r?\n?```$/.exec(text)?.[1];
}

/** The last block of code in a reply that is more, or what stands between the outermost braces. */
function findLastBlock(text: string): string | undefined {
  const fenced = [...text.matchAll(/```[\w-]*[ \t]*\r?\n?([\s\S]*?)```/g)].at(-1)?.[1];
  if (fenced !== undefined) return fenced.trim();
  const open = text.indexOf('{');
  const close = text.lastIndexOf('}');
  return open >= 0 && close > open ? text.slice(open, close + 1) : undefined;
}

const STATED =
  /\banswer(?:[ \t]+to[ \t]+(?:the|this|your)[ \t]+question)?(?:\*\*)?[ \t]*(?:is|would be|should be|must be|=|[:：])(?![\w])[ \t]*[:：]?[ \t]*/gi;

function matchAnswer(text: string): string | undefined {
  const tagged = [...text.matchAll(/<answer>([\s\S]*?)<\/answer>/gi)].at(-1)?.[1];
  if (tagged !== undefined) return tagged;
  const boxed = [...text.matchAll(/\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}/g)].at(-1)?.[1];
  if (boxed !== undefined) return boxed;
  for (const mark of [...text.matchAll(STATED)].reverse()) {
    const rest = text.slice(mark.index + mark[0].length).trim();
    const sentence = takeFirstSentence(rest.split(/\r?\n/, 1)[0] ?? '');
    if (validateAnswer(sentence) !== null) return sentence;
  }
  return undefined;
}

/** Shortened words whose full stop ends no sentence and is part of an answer. */
const ABBREVIATION =
  /(?:^|[\s(])(?:\p{L}|Mr|Mrs|Ms|Dr|Prof|St|Mt|Ft|Jr|Sr|Inc|Ltd|Co|Corp|Bros|vs|etc|approx|ca|No|vol|[ap]\.m)$/u;

function takeFirstSentence(line: string): string {
  for (const end of line.matchAll(/[.!?](?=\*{0,2}(?:\s|$))/g)) {
    const sentence = line.slice(0, end.index);
    if (!ABBREVIATION.test(sentence)) return stripReason(sentence);
  }
  return stripReason(line);
}

function stripReason(sentence: string): string {
  return sentence.replace(/,?\s+(?:because|since|which is|as shown|as the|so that)\s.*$/i, '');
}

const PAIRS = ['[]', '()', '{}', '""', "''", '“”', '‘’', '«»', '``', '$$'];

/** The third stage: bare of what surrounds it, and no template. */
function validateAnswer(text: string): string | null {
  const bare = stripPair(stripMarks(text));
  const answer = stripMarks(bare);
  return answer === '' || /^<?\[?(?:your|the) (?:final )?answer\]?>?$/i.test(answer) ? null : answer;
}

/** Layers of marks around an answer: nobody writes more, and each takes a look at the whole text. */
const MAX_MARKS = 8;

/** Markdown and the full stop, from outside in. */
function stripMarks(text: string): string {
  let bare = text.trim();
  for (let round = 0; round < MAX_MARKS; round++) {
    const less = stripLoneStars(bare)
      .replace(/^(?:#{1,6}|>|[-*•](?!\s*\d))\s+/, '')
      .replace(/^(\*\*\*|\*\*|\*|`{1,3})(.+)\1$/s, '$2')
      // Underscores are part of names in code: `__init__` stays.
      .replace(/^(__|_)(?=.*[\s\d])(.+)\1$/s, '$2')
      .replace(/^\\text\{([^{}]*)\}$/, '$1')
      .trim();
    const stopped =
      less.endsWith('.') && !/[.…]\.$/.test(less) && !isShortened(less.slice(0, -1))
        ? less.slice(0, -1).trimEnd()
        : less;
    if (stopped === bare) break;
    bare = stopped;
  }
  return bare;
}

/** Bold that was opened before the mark or closed behind it: one pair of stars without its other half. */
function stripLoneStars(text: string): string {
  if (/^\*+$/.test(text)) return '';
  const first = text.indexOf('**');
  if (first < 0 || text.indexOf('**', first + 2) >= 0) return text;
  if (first === 0) return text.slice(2);
  return first === text.length - 2 ? text.slice(0, first) : text;
}

/** Whether the full stop after `text` belongs to its last word: `U.S.`, `Acme Inc.`, `John F.` */
function isShortened(text: string): boolean {
  return (
    /\b\p{L}\.\p{L}$/u.test(text) || (/\s/.test(text) && ABBREVIATION.test(text) && !/\bNo$/i.test(text))
  );
}

function stripPair(text: string): string {
  const pair = PAIRS.find(
    ([open = '', close = '']) => text.length > 2 && text.startsWith(open) && text.endsWith(close),
  );
  if (pair === undefined) return text;
  const [open = '', close = ''] = pair;
  const inner = text.slice(1, -1);
  // "(a) and (b)" and "'x' or 'y'" begin and end alike, but not as a pair.
  return inner.includes(open) || inner.includes(close) ? text : inner.trim();
}
