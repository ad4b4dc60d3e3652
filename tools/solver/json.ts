import type { CellValue } from '../files/sheet.ts';
import { isStopWord, splitWords } from '../reader/words.ts';
import { fitFormat } from './fit-format.ts';
import { plainNumber } from './rounding.ts';
import type { Solution } from './solution.ts';
import { answerFromTable, tableFrom } from './table.ts';
import type { Workings } from './workings.ts';

/** Of a JSON file; deeper ones are no data that people ask about. */
const MAX_DEPTH = 12;
const MAX_LEAVES = 50_000;

/** A question about JSON: over a list of objects as over a table, else by the path whose names the question holds. */
export function solveJson(question: string, text: string, workings: Workings): Solution {
  const value = parsedJson(text);
  if (value === undefined) return workings.giveUp('table', 'The file is no JSON that can be read whole.');
  const lists = objectLists(value);
  const list = chooseList(question, lists);
  if (list !== undefined) {
    const columns = [...new Set(list.rows.flatMap((row) => Object.keys(row)))];
    workings.say(
      `The JSON has a list ${list.name} of ${list.rows.length} objects with ${columns.join(', ')}.`,
    );
    const table = tableFrom(
      columns,
      list.rows.map((row) => columns.map((name) => cellFor(row[name]))),
    );
    const solution = answerFromTable(question, table, workings);
    if (solution.answer !== null) return solution;
  }
  return lookUp(question, value, workings);
}

function parsedJson(text: string): unknown {
  const start = text.search(/[[{]/);
  if (start < 0) return undefined;
  try {
    return JSON.parse(text.slice(start));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return parsedLines(text.slice(start));
  }
}

/** JSON Lines: a list of what stands in each. */
function parsedLines(text: string): unknown {
  try {
    return text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line): unknown => JSON.parse(line));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

interface ObjectList {
  readonly name: string;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

function objectLists(value: unknown, name = '', depth = 0): ObjectList[] {
  if (depth > MAX_DEPTH) return [];
  if (Array.isArray(value)) {
    const rows = value.filter(isRecord);
    const own = rows.length > 0 && rows.length === value.length ? [{ name, rows }] : [];
    return [
      ...own,
      ...rows.flatMap((row) => objectLists(row, name, depth + 1).filter((list) => list.name !== name)),
    ];
  }
  if (!isRecord(value)) return [];
  const members = Object.entries(value);
  // `{"Oslo": {…}, "Bergen": {…}}` is a list whose names stand outside.
  const inner = members.filter(([, member]) => isRecord(member));
  const keyed =
    inner.length > 1 && inner.length === members.length && sharesKeys(inner)
      ? [{ name, rows: inner.map(([key, member]) => ({ name: key, ...(isRecord(member) ? member : {}) })) }]
      : [];
  return [...keyed, ...members.flatMap(([key, member]) => objectLists(member, key, depth + 1))];
}

function sharesKeys(members: readonly (readonly [string, unknown])[]): boolean {
  const [first] = members.map(([, member]) => Object.keys(isRecord(member) ? member : {}));
  return first?.some((key) => members.every(([, member]) => isRecord(member) && key in member)) ?? false;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The list that the question speaks of most: by its name, its keys and what its objects hold. */
function chooseList(question: string, lists: readonly ObjectList[]): ObjectList | undefined {
  const asked = new Set(
    splitWords(question)
      .filter(({ lower }) => !isStopWord(lower))
      .map(({ stem }) => stem),
  );
  const points = ({ name, rows }: ObjectList) => {
    const words = (text: string) =>
      splitWords(text.replaceAll('_', ' ')).filter(({ stem }) => asked.has(stem)).length;
    const values = rows
      .flatMap((row) => Object.values(row))
      .filter((value) => typeof value === 'string' && value.length < 80);
    return (
      2 * words(name) +
      words(Object.keys(rows[0] ?? {}).join(' ')) +
      words([...new Set(values)].join(' ').slice(0, 100_000))
    );
  };
  const ranked = lists.map((list) => ({ list, points: points(list) })).sort((a, b) => b.points - a.points);
  const [best] = ranked;
  return best !== undefined && best.points > 0 ? best.list : undefined;
}

function cellFor(value: unknown): CellValue {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  return Array.isArray(value) && value.every((item) => !isRecord(item))
    ? value.join(', ')
    : JSON.stringify(value);
}

interface Leaf {
  readonly path: readonly string[];
  readonly value: string;
}

/** The leaf whose path and neighbours share the most words with the question, if it is one alone. */
function lookUp(question: string, value: unknown, workings: Workings): Solution {
  const asked = new Set(
    splitWords(question)
      .filter(({ lower }) => !isStopWord(lower))
      .map(({ stem }) => stem),
  );
  const leaves = leavesOf(value).slice(0, MAX_LEAVES);
  const scored = leaves
    .map((leaf) => {
      const own = stemsOf(leaf.path.at(-1) ?? '');
      const above = leaf.path.slice(0, -1).flatMap(stemsOf);
      const named = own.filter((stem) => asked.has(stem)).length;
      return {
        leaf,
        points: named === 0 ? 0 : (2 * named) / own.length + above.filter((stem) => asked.has(stem)).length,
      };
    })
    .sort((a, b) => b.points - a.points);
  const [best, next] = scored;
  if (best === undefined || best.points === 0)
    return workings.giveUp('table', 'No member of the JSON is named like what the question asks for.');
  if (next?.points === best.points && next.leaf.value !== best.leaf.value)
    return workings.giveUp('table', 'Several members of the JSON fit the question as well.');
  workings.say(`The member ${best.leaf.path.join('.')} fits the question best.`);
  return workings.answer('table', fitFormat(question, best.leaf.value));
}

function stemsOf(name: string): string[] {
  return splitWords(name.replace(/(?<=[a-z])(?=[A-Z])|_/g, ' ')).map(({ stem }) => stem);
}

function leavesOf(value: unknown, path: readonly string[] = []): Leaf[] {
  if (path.length > MAX_DEPTH || value === null) return [];
  if (Array.isArray(value)) {
    if (value.every((item) => typeof item !== 'object'))
      return [{ path, value: value.map(String).join(', ') }];
    return value.flatMap((item, index) => leavesOf(item, [...path, String(index)]));
  }
  if (isRecord(value))
    return Object.entries(value).flatMap(([key, member]) => leavesOf(member, [...path, key]));
  return [{ path, value: typeof value === 'number' ? plainNumber(value) : String(value) }];
}
