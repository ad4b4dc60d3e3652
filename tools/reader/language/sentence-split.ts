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
  let width = 0;
  while (start < text.length) {
    let end = findLineEnd(text, start);
    if (afterBlank) width = measureWidth(text, start);
    const heading =
      afterBlank && end - start <= MAX_HEADING_CHARS && isHeading(text.slice(start, end).trim(), text, end);
    while (!heading && end < text.length && isWrapped(text, start, end, width))
      end = findLineEnd(text, end + 1);
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

/** Returns true if a line is a title: short, without a closing mark, and alone above text. */
function isHeading(line: string, text: string, end: number): boolean {
  if (line === '' || end >= text.length) return false;
  if (/[a-z]/.test(text.charAt(end + 1))) return false;
  return !/[.!?:;,]["'”’)\]]?$/.test(line);
}

/** Matches what records and items of a list begin with, and the gap between columns. */
const ITEM = /^\s*(?:[-*•–—]\s|\(?\d|\(?[a-z]\))/i;
const GAP = /\S(?: {2,}|\t+ *)\S|\|/;

/**
 * Returns true if a line goes on in the next one. Prose is wrapped where the next word did not fit into the width of its
 * block; a record or an item of a list ends at its line's end.
 */
function isWrapped(text: string, start: number, end: number, width: number): boolean {
  const next = text.charAt(end + 1);
  if (next === '' || next === '\n' || next === '\r') return false;
  const from = Math.max(start, text.lastIndexOf('\n', end - 1) + 1);
  const length = end - from;
  if (length < MIN_WRAPPED_CHARS || length > 2 * MIN_WRAPPED_CHARS) return false;
  const line = text.slice(from, end);
  const following = text.slice(
    end + 1,
    Math.min(findLineEnd(text, end + 1), end + 1 + 3 * MIN_WRAPPED_CHARS),
  );
  if (GAP.test(line) || GAP.test(following) || (ITEM.test(line) && ITEM.test(following))) return false;
  const word = /^\S*/.exec(following)?.[0] ?? '';
  return length + 1 + word.length > width;
}

/** Returns the length of the longest line of the block that begins at `start`: the lines up to a blank one. */
function measureWidth(text: string, start: number): number {
  let width = 0;
  for (let from = start; from < text.length; ) {
    const end = findLineEnd(text, from);
    if (text.slice(from, end).trim() === '') break;
    width = Math.max(width, end - from);
    from = end + 1;
  }
  return width;
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
  // A unit, which looks like an initial.
  if (body.charAt(stop - 2) === '°') return true;
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
