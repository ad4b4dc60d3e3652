import { isStopWord } from '../../reader/words.ts';
import type { AskedCondition } from './asked-condition.ts';
import type { AskedWord, Column } from './columns.ts';

interface Mention {
  readonly column: Column;
  readonly value: string;
  readonly start: number;
  readonly end: number;
}

/** Conditions on texts: the values of cells that the question names, as wanted or as left out. */
export function namedValues(
  text: string,
  words: readonly AskedWord[],
  columns: readonly Column[],
): AskedCondition[] {
  const mentions = withoutOverlaps(
    columns.flatMap((column) => mentionsOf(text, words, column)),
    text,
    columns,
  );
  const groups: { column: Column; values: string[]; start: number; end: number; isExcluded: boolean }[] = [];
  for (const mention of mentions) {
    const last = groups.at(-1);
    const between = last === undefined ? '' : text.slice(last.end, mention.start);
    // "drinks and merchandise", "Oslo, Bergen or Hamar": one group, which is excluded as a whole or not at all.
    if (
      last?.column === mention.column &&
      /^[\s,]*(?:and|or|nor|&)?\s*(?:the |in |at |from |for )?$/i.test(between)
    ) {
      last.values.push(mention.value);
      last.end = mention.end;
    } else {
      const { column, value, start, end } = mention;
      groups.push({ column, values: [value], start, end, isExcluded: false });
    }
  }
  for (const group of groups) group.isExcluded = isExcluded(text, group.start, group.end);
  for (const [index, group] of [...groups.entries()].reverse()) {
    const [first, ...others] = group.values;
    // "Food, drinks and merchandise not included": not everything is left out, so what comes first is wanted.
    if (
      !group.isExcluded ||
      first === undefined ||
      others.length === 0 ||
      group.values.length < group.column.values.length
    )
      continue;
    groups.splice(index, 1, { ...group, values: [first], isExcluded: false }, { ...group, values: others });
  }
  const positive = new Map<Column, AskedCondition>();
  const conditions: AskedCondition[] = [];
  for (const { column, values, start, end, isExcluded: not } of groups) {
    const before = not ? undefined : positive.get(column);
    const condition: AskedCondition = {
      column: column.name,
      op: not ? 'not in' : 'in',
      values: [...(before?.values ?? []), ...values.filter((value) => !before?.values.includes(value))],
      start: before?.start ?? start,
      end: before?.end ?? end,
    };
    if (before !== undefined) conditions.splice(conditions.indexOf(before), 1);
    if (!not) positive.set(column, condition);
    conditions.push(condition);
  }
  // "food, drinks not included": what is wanted says it already.
  return [
    ...conditions.filter(
      ({ op, column }) => op === 'in' || ![...positive.keys()].some(({ name }) => name === column),
    ),
    ...flags(text, words, columns),
  ];
}

function mentionsOf(text: string, words: readonly AskedWord[], column: Column): Mention[] {
  if (column.kind !== 'text') return [];
  const mentions: Mention[] = [];
  for (const value of column.values) {
    const parts = value.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
    const [first] = parts;
    if (first === undefined || (parts.length === 1 && (isStopWord(first) || /^\d+$/.test(first)))) continue;
    for (let at = 0; at + parts.length <= words.length; at++) {
      if (!parts.every((part, offset) => sameWord(words[at + offset], part, parts.length))) continue;
      const start = words[at]?.start ?? 0;
      const end = words[at + parts.length - 1]?.end ?? start;
      // A letter alone is a value where it is written as in the table.
      if (first.length > 1 || parts.length > 1 || text.slice(start, end) === value.trim())
        mentions.push({ column, value, start, end });
    }
  }
  return mentions;
}

/** One-word values may stand in the plural or the singular; in a name each word is as it is. */
function sameWord(word: AskedWord | undefined, part: string, count: number): boolean {
  if (word === undefined) return false;
  if (word.lower === part) return true;
  return (
    count === 1 &&
    part.length > 2 &&
    [`${part}s`, `${part}es`, part.replace(/y$/, 'ies'), part.replace(/s$/, '')].includes(word.lower)
  );
}

/** The longest mention of a place; of equals the one whose column is named beside it. */
function withoutOverlaps(mentions: readonly Mention[], text: string, columns: readonly Column[]): Mention[] {
  const isNamedBeside = ({ column, start, end }: Mention) => {
    const near = text.slice(Math.max(0, start - 24), end + 24).toLowerCase();
    return column.words.some((word) => near.includes(word));
  };
  const ranked = [...mentions].sort(
    (a, b) =>
      b.end - b.start - (a.end - a.start) ||
      Number(isNamedBeside(b)) - Number(isNamedBeside(a)) ||
      a.column.values.length - b.column.values.length ||
      columns.indexOf(a.column) - columns.indexOf(b.column),
  );
  const kept: Mention[] = [];
  for (const mention of ranked) {
    if (kept.every(({ start, end }) => mention.end <= start || mention.start >= end)) kept.push(mention);
  }
  return kept.sort((a, b) => a.start - b.start);
}

function isExcluded(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - 40), start);
  const after = text.slice(end, end + 40);
  return (
    /\b(?:not|no|except(?:ing)?(?: for)?|exclud(?:ing|e|es)|without|other than|besides|apart from|aside from|leaving out|ignor(?:ing|e)|but not|outside(?: of)?|non)[\s-]+(?:\w+\s+){0,2}$/i.test(
      before,
    ) ||
    /^[\s,]*(?:\w+ )?(?:(?:are|is|were|was) )?(?:not included|not counted|excluded|left out|aside|omitted|excepted)\b/i.test(
      after,
    )
  );
}

/** "automated lighthouses", "not automated": a column of yes and no that is named like an adjective. */
function flags(text: string, words: readonly AskedWord[], columns: readonly Column[]): AskedCondition[] {
  const conditions: AskedCondition[] = [];
  for (const column of columns) {
    if (column.kind !== 'yes-no') continue;
    const word = words.find(({ stem }) => column.stems.includes(stem));
    if (word === undefined) continue;
    const isNegative =
      /\b(?:not|no|non|never|without|un|aren't|isn't|weren't|wasn't)[\s-]*(?:\w+\s+)?$/i.test(
        text.slice(Math.max(0, word.start - 20), word.start),
      );
    const wanted = column.values.filter((value) => /^(?:yes|true|y)$/i.test(value) !== isNegative);
    conditions.push({ column: column.name, op: 'in', values: wanted, start: word.start, end: word.end });
  }
  return conditions;
}
