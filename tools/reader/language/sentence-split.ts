/** A piece of a text, by UTF-16 offsets: `end` is exclusive. */
type Span = { start: number; end: number };
type SentenceSpan = Span & { heading: boolean };

// Maximum length of a sentence. A longer one is cut at a blank (or anywhere, when it has none): later steps cost more
// than linear time in the length of one sentence.
const MAX_SENTENCE_CHARS = 600;
const MAX_HEADING_CHARS = 90;
// Minimum length of a hard-wrapped line; shorter lines are headings, list items or verse.
const MIN_WRAPPED_CHARS = 45;

const ABBREVIATIONS = new Set(
  (
    'mr mrs ms dr prof sr jr st gen col capt lt sgt rev hon gov sen rep pres vs etc approx ca c cf no nos vol vols ' +
    'fig dept inc ltd co corp bros jan feb mar apr jun jul aug sep sept oct nov dec ave blvd mt ft e.g i.e op ed eds ' +
    'pp p bap viz al univ assn'
  ).split(' '),
);

/** Cuts `text` into sentences: at line ends that are not mere wrapping, then at full stops. Takes linear time. */
export function splitSentences(text: string): SentenceSpan[] {
  const sentences: SentenceSpan[] = [];
  for (const line of joinWrappedLines(text)) {
    if (line.heading) sentences.push(line);
    else splitLine(text, line, sentences);
  }
  return sentences;
}

function joinWrappedLines(text: string): SentenceSpan[] {
  const lines: SentenceSpan[] = [];
  let start = 0;
  let afterBlank = true;
  while (start < text.length) {
    let end = findLineEnd(text, start);
    const heading =
      afterBlank && end - start <= MAX_HEADING_CHARS && isHeading(text.slice(start, end).trim(), text, end);
    while (!heading && end < text.length && isWrapped(text, start, end)) end = findLineEnd(text, end + 1);
    if (text.slice(start, end).trim() !== '') {
      lines.push({ start, end, heading });
      afterBlank = false;
    } else {
      afterBlank = true;
    }
    start = end + 1;
  }
  return lines;
}

function findLineEnd(text: string, from: number): number {
  const at = text.indexOf('\n', from);
  return at < 0 ? text.length : at;
}

/** Tells whether a line is a title: short, without a closing mark, and alone above text. */
function isHeading(line: string, text: string, end: number): boolean {
  if (line === '' || end >= text.length) return false;
  if (/[a-z]/.test(text.charAt(end + 1))) return false;
  return !/[.!?:;,]["'”’)\]]?$/.test(line);
}

function isWrapped(text: string, start: number, end: number): boolean {
  const next = text.charAt(end + 1);
  if (next === '' || next === '\n' || next === '\r') return false;
  const lastLine = end - Math.max(start, text.lastIndexOf('\n', end - 1) + 1);
  return lastLine >= MIN_WRAPPED_CHARS && lastLine <= 2 * MIN_WRAPPED_CHARS;
}

const STOP = /[.!?]["'”’)\]]{0,3}(?=\s)/g;

function splitLine(text: string, line: Span, out: SentenceSpan[]): void {
  const body = text.slice(line.start, line.end);
  let from = 0;
  for (const match of body.matchAll(STOP)) {
    const end = match.index + match[0].length;
    if (!isSentenceEnd(body, match.index, end)) continue;
    pushBounded(body, from, end, line.start, out);
    from = end;
  }
  pushBounded(body, from, body.length, line.start, out);
}

function isSentenceEnd(body: string, stop: number, end: number): boolean {
  const after = body.slice(end, end + 8).trimStart();
  if (after === '' || /^[a-z,;]/.test(after)) return false;
  if (body.charAt(stop) !== '.') return true;
  const word = /[\p{L}.]{1,12}$/u.exec(body.slice(Math.max(0, stop - 12), stop))?.[0] ?? '';
  if (/^\p{Lu}$/u.test(word)) return false;
  return !ABBREVIATIONS.has(word.toLowerCase());
}

function pushBounded(body: string, from: number, to: number, offset: number, out: SentenceSpan[]): void {
  let start = from;
  while (start < to) {
    let end = Math.min(to, start + MAX_SENTENCE_CHARS);
    if (end < to) {
      const blank = body.lastIndexOf(' ', end);
      if (blank > start + MAX_SENTENCE_CHARS / 2) end = blank;
    }
    pushTrimmed(body, start, end, offset, out);
    start = end;
  }
}

function pushTrimmed(body: string, from: number, to: number, offset: number, out: SentenceSpan[]): void {
  let start = from;
  let end = to;
  while (start < end && body.charAt(start).trim() === '') start++;
  while (end > start && body.charAt(end - 1).trim() === '') end--;
  if (start < end) out.push({ start: offset + start, end: offset + end, heading: false });
}
