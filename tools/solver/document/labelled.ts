import { isStopWord, splitWords } from '../../reader/words.ts';
import type { DocumentText } from '../document-text.ts';
import { asksForNumber, fitFormat } from '../fit-format.ts';
import { withoutAttachment } from '../question-text.ts';
import type { Solution } from '../solution.ts';
import { columnsOf } from '../table/columns.ts';
import { planQuery } from '../table/plan.ts';
import { answerFromTable, tableFrom } from '../table.ts';
import type { Workings } from '../workings.ts';

/** A table in the text, where the question names one of its cells. */
export function tabled(question: string, { lines }: DocumentText, workings: Workings): Solution | undefined {
  for (const rows of tablesIn(lines)) {
    const [columns = [], ...body] = rows;
    const table = tableFrom(columns, body);
    const plan = planQuery(withoutAttachment(question), columnsOf(table));
    const isNamed =
      typeof plan !== 'string' &&
      plan.where.some(({ op }) => op === 'in') &&
      (plan.ask === 'lookup' || plan.ask === 'difference' || plan.ask === 'sum');
    const namesColumn =
      typeof plan !== 'string' &&
      'column' in plan &&
      plan.column !== undefined &&
      sharesStem(plan.column, question);
    if (!isNamed || !namesColumn) continue;
    const solution = answerFromTable(withoutAttachment(question), table, workings);
    if (solution.answer !== null) return { ...solution, kind: 'document' };
  }
  return undefined;
}

function sharesStem(name: string, question: string): boolean {
  const asked = new Set(splitWords(question).map(({ stem }) => stem));
  return splitWords(name).some(({ stem, lower }) => !isStopWord(lower) && asked.has(stem));
}

/** Tables in Markdown. */
function tablesIn(lines: readonly string[]): string[][][] {
  const tables: string[][][] = [];
  let open: string[][] | undefined;
  for (const line of lines) {
    const cells = /^\s*\|(.*)\|\s*$/
      .exec(line)?.[1]
      ?.split('|')
      .map((cell) => cell.trim());
    if (cells === undefined) {
      open = undefined;
    } else if (!cells.every((cell) => /^:?-+:?$/.test(cell))) {
      if (open === undefined) {
        open = [];
        tables.push(open);
      }
      open.push(cells);
    }
  }
  return tables.filter((rows) => rows.length > 1);
}

/** What is longer is a sentence, and says more than what its label asks for. */
const MAX_LABELLED_WORDS = 5;

/** "Lobsters: 14", "Total 15.80": a short line whose label the question holds whole. */
export function labelled(
  question: string,
  { lines }: DocumentText,
  workings: Workings,
): Solution | undefined {
  const asked = new Set(
    splitWords(question)
      .filter(({ lower }) => !isStopWord(lower))
      .map(({ stem }) => stem),
  );
  const wantsNumber = asksForNumber(question);
  const words = splitWords(question);
  const found: { label: string; value: string; points: number; at: number }[] = [];
  for (const line of lines) {
    const match =
      /^[\s*#•-]*([\p{L}][\p{L}\p{N} '’().-]{1,40}?)(?:\s*[:=]\s*|\s{2,}|\s+(?=[$€£]?\d[\d.,]*\s*(?:[$€£%]|[\p{L}]{1,4})?$))(\S.{0,80})$/u.exec(
        line,
      );
    const [, label = '', value = ''] = match ?? [];
    const own = splitWords(label).filter(({ lower }) => !isStopWord(lower));
    if (own.length === 0 || own.length > 4 || !own.every(({ stem }) => asked.has(stem))) continue;
    if (wantsNumber ? !/\d/.test(value) : value.split(/\s+/).length > MAX_LABELLED_WORDS) continue;
    found.push({
      label,
      value,
      points: own.length,
      at: words.findIndex(({ stem }) => stem === own[0]?.stem),
    });
  }
  const most = Math.max(0, ...found.map(({ points }) => points));
  const named = found.filter(({ points }) => points === most);
  // "The total on the receipt": of two labels in the question, the one that it begins with is asked for.
  const earliest = Math.min(...named.map(({ at }) => at));
  const [first, other] = named.filter(({ at }) => at === earliest);
  if (first === undefined || (other !== undefined && other.value !== first.value)) return undefined;
  workings.say(`The line "${first.label.trim()}" is labelled with what the question asks for.`);
  const value = wantsNumber ? (/^[^\d]*[\d.,]*\d/.exec(first.value)?.[0] ?? first.value) : first.value;
  return workings.answer('document', fitFormat(question, value.trim()), 0.7);
}
