// Finds the tables in a plain text: those in Markdown, those with a tab or a semicolon between cells, and those whose
// columns are aligned by blanks.
import { findAnswerKind, mayAnswer } from '@gaia-mesh/reader/answer-kinds.ts';
import { parseQuestion } from '@gaia-mesh/reader/question.ts';
import { rememberTexts } from '@gaia-mesh/reader/remember.ts';
import { answerTable, isGiven, MIN_TABLE_CHANCE, type TableAnswer } from './answer-table.ts';
import { parseMarkdownRows } from './markdown-rows.ts';

/** A table and the lines that it takes, from 0; `end` is exclusive. */
interface TextTable {
  readonly start: number;
  readonly end: number;
  /** The first is the heading. */
  readonly rows: readonly (readonly string[])[];
}

/** Minimum rows below the heading, and minimum columns where nothing but blanks separates them. */
const MIN_ROWS = 2;
const MIN_ALIGNED_COLUMNS = 3;
const DELIMITERS = [/^(?=\|)|(?=\|$)/, /\t/, /;/, /\s{2,}|\t/];

/** Finds the tables of a text. */
export const findTextTables: (text: string) => readonly TextTable[] = rememberTexts((text) => {
  const lines = text.split('\n');
  const tables: TextTable[] = [];
  for (let start = 0; start < lines.length; ) {
    const table = DELIMITERS.map((delimiter, at) => readTable(lines, start, delimiter, at)).find(
      (one) => one !== undefined,
    );
    if (table === undefined) {
      start++;
      continue;
    }
    tables.push(table);
    start = table.end;
  }
  return tables;
});

/** Reads the table that begins in a line, if one does. */
function readTable(
  lines: readonly string[],
  start: number,
  delimiter: RegExp,
  kind: number,
): TextTable | undefined {
  const [isMarkdown, isAligned] = [kind === 0, kind === DELIMITERS.length - 1];
  const cut = (line: string) =>
    line
      .trim()
      .split(delimiter)
      .map((cell) => cell.trim());
  const heading = cut(lines[start] ?? '');
  const columns = heading.length;
  if (columns < (isMarkdown || !isAligned ? 2 : MIN_ALIGNED_COLUMNS) || heading.some((cell) => cell === ''))
    return undefined;
  let end = start + 1;
  while (
    end < lines.length &&
    (isMarkdown ? /^\s*\|/.test(lines[end] ?? '') : cut(lines[end] ?? '').length === columns)
  )
    end++;
  const block = lines.slice(start, end);
  const rows = isMarkdown ? parseMarkdownRows(block.join('\n')) : block.map(cut);
  if (rows === undefined || rows.length <= MIN_ROWS) return undefined;
  // A heading names its columns: it has no figures, and some column below it has.
  const isFigure = (cell: string) => /\d/.test(cell);
  if (!isMarkdown && (heading.some(isFigure) || !rows.slice(1).some((row) => row.some(isFigure))))
    return undefined;
  return { start, end, rows };
}

/** Returns a text without the lines of its tables; the other lines keep their numbers. */
export function blankTables(text: string): string {
  const lines = text.split('\n');
  for (const { start, end } of findTextTables(text)) lines.fill('', start, end);
  return lines.join('\n');
}

/** Chance below which a table beside sentences gives no answer: the question may be about those instead. */
const MIN_CHANCE_BESIDE_TEXT = 0.5;
const SENTENCE_END = /[.!?]\s*$/m;

function chooseMinChance(question: string, beside: readonly string[]): number {
  const isAboutTable = /\btable\b/i.test(question) || !beside.some((other) => SENTENCE_END.test(other));
  return isAboutTable ? MIN_TABLE_CHANCE : MIN_CHANCE_BESIDE_TEXT;
}

/**
 * Answers a question by the tables of a text; an answer that may not be given is left out. `beside` is what stands
 * beside the tables, and `threshold` takes the place of the calibrated chances.
 */
export function answerTextTables(
  question: string,
  text: string,
  {
    beside,
    threshold = chooseMinChance(question, beside),
    weights,
  }: {
    readonly beside: readonly string[];
    readonly threshold?: number | undefined;
    readonly weights?: string | undefined;
  },
) {
  const answers: TableAnswer[] = findTextTables(text).flatMap(({ rows }) =>
    answerTable(question, rows, weights),
  );
  const kind = findAnswerKind(parseQuestion(question));
  const fits = ({ items }: TableAnswer) => kind === undefined || mayAnswer({ kind, values: items });
  const given = answers
    .filter((answer) => isGiven(answer, threshold) && fits(answer))
    .sort((a, b) => b.chance - a.chance);
  const [surest] = answers.toSorted((a, b) => b.chance - a.chance);
  return { given, surest, isUnsure: surest !== undefined && surest.chance < threshold };
}
