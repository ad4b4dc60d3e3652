/** Maximum characters that are searched, from the end: that is where an answer stands, and models' replies have their own bound. */
const MAX_CHARACTERS = 200_000;

/** Maximum nesting of JSON in JSON, and of an answer wrapped again: `{"answer": {"answer": "4"}}`. Models do not wrap deeper. */
const MAX_WRAPS = 4;

/** Maximum rounds of cleaning. "FINAL ANSWER: \\boxed{4}" needs two; a text that needs more was made to need them. */
const MAX_ROUNDS = 16;

/**
 * Extracts the bare answer from a model's reply (SV-18, RA-11). The rules are the same for every team and do not depend on the question.
 * Reasoning and JSON are removed first; then the last `FINAL ANSWER:` counts, else a box, a tag or "the answer is …", else the
 * text as it is; then markdown, one pair of brackets or quotes and a full stop are stripped. Cleaning a cleaned answer again
 * does not change it.
 *
 * @returns null if nothing is left: an answer is never empty (RA-12), so the caller has to ask again or say so
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

/** Returns true if a reply states which of its words are the answer; otherwise it may be an answer or only thoughts on the way to one. */
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

/** Matches an apology, which begins a refusal, in some languages. */
const APOLOGY =
  /^\W*(?:(?:i['’]?m|i am|we['’]re) (?:very |so |really |truly )?(?:sorry|afraid)|sorry\b|apologies|i apologi[sz]e|(?:es )?tut mir leid|(?:je suis )?désolée?|lo siento|很?抱歉|对不起|申し訳)/iu;
/** Matches the statement that something cannot be done. */
const INABILITY =
  /\b(?:i|we)(?:['’](?:m|re)| am| are)? (?:can(?:no|['’]?)t|could(?: not|n['’]t)|will not|won['’]t|(?:unable|not able|not allowed|not permitted) to|(?:must|have to) decline|(?:do|did)(?: not|n['’]t) (?:have (?:access|the ability|enough information|sufficient information)|feel comfortable))\b[^.!?\n]{0,60}?\b(?:help|assist|answer|comply|provide|fulfil+|continue|determine|access|open|view|see|find|complete|process|engage)\b(?! (?:myself|falling|it\b))/i;
/** Matches the announcement of a step, from the beginning of a text or of its last line. */
const INTENTION =
  /(?:^|\n)\W*(?:(?:okay|ok|alright|first|next|now|then|so|well|sure|certainly|of course|to \p{L}+ (?:this|that|the question|it))[,.!:]?\s+){0,3}(?:(?:i|we)(?:['’]ll|['’]m going to| am going to| are going to| will| need| must| should| have to| want to| would (?:need|like)| can use| shall)\s+\p{L}|let(?:['’]s| me| us)\s+\p{L}|ich (?:werde|brauche|benötige|muss|möchte)\s|je (?:vais|dois)\s|j['’]ai besoin|voy a\s|necesito\s|我(?:需要|将|会)|让我)[^\n]*$/iu;
/** Maximum characters of a refusal or an announcement; a longer text has something besides. */
const MAX_TALK_CHARACTERS = 800;

/**
 * Returns what a reply is that states no answer: a refusal, or the announcement of a step that was not taken. Neither is an answer, however
 * often it is repeated. Undefined for every other text.
 *
 * @param tools names of tools; a text that only names one announces its use
 */
export function findNonAnswer(
  text: string,
  tools: readonly string[] = [],
): 'refusal' | 'announcement' | undefined {
  const bare = stripReply(text).trim();
  if (hasStatedAnswer(bare)) return INABILITY.test(cleanAnswer(bare) ?? '') ? 'refusal' : undefined;
  if (bare.length > MAX_TALK_CHARACTERS) return undefined;
  if (APOLOGY.test(bare) || INABILITY.test(bare)) return 'refusal';
  const names = tools.some((name) => name.includes('_') && bare.includes(name));
  return names || INTENTION.test(bare) ? 'announcement' : undefined;
}

function cleanOnce(text: string): string | null {
  return cleanText(stripReply(text), MAX_WRAPS);
}

/** End-of-turn tokens, which servers with a wrong template leave in the text. */
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
  return validateAnswer(matchAnswer(text) ?? text.replace(EMPTY_MARK, '').replace(UNFINISHED, ''));
}

/** Removes the thoughts that reasoning models put before their reply; one that was cut off at the front has only the closing tag. */
function stripThoughts(text: string): string {
  const end = text.lastIndexOf('</think>');
  return end < 0 ? text : text.slice(end + '</think>'.length);
}

/** The word for an answer in languages that models fall back to, with the words for "final" around it. */
const ANSWER =
  '(?:answer|antwort|réponse|reponse|respuesta|risposta|resposta|antwoord|svar|odpowied[źz]|ответ|答案|答え|回答|정답|답|الجواب)';
const FINAL =
  '(?:final|finale|definitive|endgültige|abschließende|définitive|definitiva|окончательный|итоговый|最终|最終|최종)';
/** An arrow or a dash. A hyphen needs a space behind it: the one in "FINAL ANSWER -42" is a sign. */
const DASH = '(?:[→–—―−]|->|-{1,3}(?=\\s))';
const STROKE = `(?:[:：=]|${DASH})`;

/** Matches the mark before an answer: with a stroke, in capitals at the start of a line, or alone on its line as a heading. */
const MARK = new RegExp(
  [
    `${FINAL}[ \\t_]*${ANSWER}[ \\t]*[*_]{0,3}[ \\t]*${STROKE}[ \\t]*(?:\\*\\*|__)?`,
    `(?<!\\p{L})${ANSWER}[ \\t]+${FINAL}[ \\t]*[*_]{0,3}[ \\t]*${STROKE}[ \\t]*(?:\\*\\*|__)?`,
    '^[#*_ \\t]{0,9}(?:FINAL|Final)[ \\t_]+(?:ANSWER|Answer)[*_]{0,3}[ \\t]+(?=-?\\d|["“\'*])',
    `^[#*_ \\t]{0,9}(?:${FINAL}[ \\t_]*${ANSWER}|${ANSWER}[ \\t]+${FINAL})[*_ \\t]{0,9}$`,
    `^[#*_ \\t]{0,9}(?:the[ \\t]+|my[ \\t]+)?${ANSWER}[*_]{0,3}[ \\t]*${DASH}[ \\t]*(?:\\*\\*|__)?`,
    `^(?:#{1,6}[ \\t]+|\\*\\*|__)(?:the[ \\t]+|my[ \\t]+|die[ \\t]+|la[ \\t]+)?${ANSWER}[*_ \\t]{0,9}$`,
  ].join('|'),
  'gimu',
);

/** Matches a mark with nothing after it, or with only the words of the template. */
const EMPTY_MARK =
  /\*{0,3}final[ \t_]+answer\*{0,3}[ \t]*[:：–—-]\*{0,3}\s*(?:\[?your final answer\]?\.?)?\s*$/i;

/** Returns the text after the last mark that has something after it; models repeat the template, and sometimes end with it. */
function findMarkedAnswer(text: string): { line: string; whole: string } | undefined {
  for (const mark of [...text.matchAll(MARK)].reverse()) {
    const whole = text.slice(mark.index + mark[0].length).trim();
    const line = whole.split(/\r?\n/, 1)[0] ?? '';
    if (validateAnswer(line) !== null) return { line, whole };
  }
  return undefined;
}

const ANSWER_KEYS = ['final_answer', 'answer', 'model_answer', 'submitted_answer', 'result', 'response'];

/** Returns the answer in a text that is JSON as a whole; undefined if it is not JSON, or has no answer. */
function parseJsonAnswer(text: string): string | undefined {
  if (!/^[[{"]/.test(text)) return undefined;
  try {
    return readAnswerField(JSON.parse(text));
  } catch {
    // Models forget a comma or use the wrong quotes; the member itself is mostly intact.
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

/** Returns the content of a reply that is a single code block. */
function parseFencedAnswer(text: string): string | undefined {
  return /^```[\w-]*[ \t]*\r?\n?([\s\S]*?)\r?\n?```$/.exec(text)?.[1];
}

/** Returns the last code block in a longer reply, or the text between the outermost braces. */
function findLastBlock(text: string): string | undefined {
  const fenced = [...text.matchAll(/```[\w-]*[ \t]*\r?\n?([\s\S]*?)```/g)].at(-1)?.[1];
  if (fenced !== undefined) return fenced.trim();
  const open = text.indexOf('{');
  const close = text.lastIndexOf('}');
  return open >= 0 && close > open ? text.slice(open, close + 1) : undefined;
}

const STATED = new RegExp(
  `(?<![\\p{L}\\d])${ANSWER}(?:[ \\t]+to[ \\t]+(?:the|this|your)[ \\t]+question|[ \\t]+${FINAL})?(?:\\*\\*)?[ \\t]*(?:(?:is|would be|should be|must be|ist|lautet|est|es|è|é)(?![\\p{L}\\d])|[是は:：=])[ \\t]*[:：]?[ \\t]*`,
  'giu',
);

/** Matches a line that announces the answer and says nothing more: a small model repeats it. */
const UNFINISHED = new RegExp(
  `^[^\\p{L}\\d\\n]*(?:(?:the|my|die|la|el)[ \\t]+)?${STATED.source}[^\\p{L}\\d\\n]*$`,
  'gimu',
);

function matchAnswer(text: string): string | undefined {
  const tagged = [...text.matchAll(/<answer>([\s\S]*?)<\/answer>/gi)].at(-1)?.[1];
  if (tagged !== undefined) return tagged;
  const boxed = [...text.matchAll(/\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}/g)].at(-1)?.[1];
  if (boxed !== undefined) return boxed;
  for (const mark of [...text.matchAll(STATED)].reverse()) {
    const rest = text.slice(mark.index + mark[0].length).trim();
    const sentence = takeFirstSentence(rest.split(/\r?\n/, 1)[0] ?? '');
    if (validateAnswer(sentence.replace(UNFINISHED, '')) !== null) return sentence;
  }
  return undefined;
}

/** Abbreviations whose full stop does not end a sentence and is part of an answer. */
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

/** Does the third stage: strips the marks around an answer; returns null for an empty one and for the template's own words. */
function validateAnswer(text: string): string | null {
  const bare = stripPair(stripMarks(text));
  const answer = stripMarks(bare);
  return answer === '' || /^<?\[?(?:your|the) (?:final )?answer\]?>?$/i.test(answer) ? null : answer;
}

/** Maximum layers of marks around an answer: models do not write more, and each round scans the whole text. */
const MAX_MARKS = 8;

/** Strips markdown and the full stop, from the outside in. */
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

/** Strips bold that was opened before the mark or closed after it: a pair of stars without its other half. */
function stripLoneStars(text: string): string {
  if (/^\*+$/.test(text)) return '';
  const first = text.indexOf('**');
  if (first < 0 || text.indexOf('**', first + 2) >= 0) return text;
  if (first === 0) return text.slice(2);
  return first === text.length - 2 ? text.slice(0, first) : text;
}

/** Returns true if the full stop after `text` belongs to its last word: `U.S.`, `Acme Inc.`, `John F.` */
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
  // "(a) and (b)" and "'x' or 'y'" begin and end with a pair's marks, which are not a pair.
  return inner.includes(open) || inner.includes(close) ? text : inner.trim();
}
