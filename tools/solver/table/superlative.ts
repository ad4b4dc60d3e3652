import { isStopWord } from '../../reader/words.ts';
import { ORDINAL_PATTERN, ordinalFromWord } from '../number-words.ts';
import { type AskedTable, wordsAfter } from './asked-table.ts';
import { nameColumn, personColumn } from './choose-column.ts';
import { type AskedWord, best, type Column, isNumeric, meaningMatch, nameMatch } from './columns.ts';
import { endIn, type Measure, measureOf, measureOfPair } from './measures.ts';
import type { TablePlan } from './table-plan.ts';

export function superlative(asked: AskedTable): TablePlan | string | undefined {
  const found = findSuperlative(asked);
  if (found === undefined) return undefined;
  const { measure, start, end } = found;
  const following = wordsAfter(asked.free, end, 4);
  const scale = scaleFor(asked, measure, following, start);
  const target = targetOf(asked, start, following);
  const groups = groupsFor(target);
  if (groups !== undefined && (scale === undefined || isTotalled(asked, scale))) {
    const fold = /\b(?:average|mean)\b/i.test(asked.text) ? 'mean' : 'sum';
    const end = scale === undefined ? measure.end : endIn(measure, scale);
    return { ask: 'group', column: groups.name, by: scale?.name, fold, end, where: asked.where };
  }
  if (scale === undefined) return 'It is not clear which column the largest or smallest is meant of.';
  const isValue =
    (target !== undefined && target === scale) ||
    (target === undefined && /\b(?:what|how)\b/i.test(asked.text) && !asksForRow(asked));
  if (isValue) {
    if (found.rank === 1 && found.count === 1)
      return { ask: endIn(measure, scale), column: scale.name, where: asked.where };
  }
  const column = isValue ? scale : (target ?? nameColumn(asked));
  if (column === undefined) return 'It is not clear which column names the rows.';
  return {
    ask: 'ranked',
    by: scale.name,
    end: endIn(measure, scale),
    rank: found.rank,
    count: found.count,
    column: column.name,
    where: asked.where,
  };
}

function findSuperlative(
  asked: AskedTable,
): { measure: Measure; start: number; end: number; rank: number; count: number } | undefined {
  for (const [index, word] of asked.free.entries()) {
    const next = asked.free[index + 1];
    const pair = next === undefined ? undefined : measureOfPair(word.lower, next.lower);
    const measure = pair ?? measureOf(word.lower, 'est');
    if (measure === undefined || !isSuperlative(asked, word)) continue;
    const before = asked.text.slice(Math.max(0, word.start - 24), word.start);
    // "at least", "at most" compare.
    if (/\bat\s+$/i.test(before)) continue;
    const ordinal = new RegExp(`\\b(${ORDINAL_PATTERN})[\\s-]+$`, 'i').exec(before)?.[1];
    const rank =
      ordinal === undefined || /^(?:last|first)$/i.test(ordinal)
        ? 1
        : Math.abs(ordinalFromWord(ordinal) ?? 1);
    const count =
      /\b(?:the )?(\d{1,2})\s+$/.exec(before)?.[1] ?? /^\s*(\d{1,2})\b/.exec(asked.text.slice(word.end))?.[1];
    const isCount = word.lower === 'top' || /\b(?:the )?\d{1,2}\s+$/.test(before);
    return {
      measure,
      start: word.start,
      end: (pair === undefined ? word : (next ?? word)).end,
      rank,
      count: isCount && count !== undefined ? Number(count) : 1,
    };
  }
  return undefined;
}

function isSuperlative(asked: AskedTable, word: AskedWord): boolean {
  if (!/^(?:first|last|latest)$/.test(word.lower)) return true;
  if (
    /\bhow many\b/i.test(asked.text) ||
    /^\s+(?:\w+day|week|month|year|spring|summer|autumn|fall|winter|season|name)/i.test(
      asked.text.slice(word.end),
    )
  )
    return false;
  const hasOther = asked.free.some(
    ({ lower }) => !/^(?:first|last)$/.test(lower) && measureOf(lower, 'est') !== undefined,
  );
  return !hasOther && asked.columns.some(({ kind }) => kind === 'date' || kind === 'year');
}

function scaleFor(
  asked: AskedTable,
  measure: Measure,
  following: readonly AskedWord[],
  start: number,
): Column | undefined {
  const scales = asked.columns.filter(
    (column) => isNumeric(column) || (column.kind === 'date' && measure.inTime !== undefined),
  );
  const named = best(scales, (column) => nameMatch(column, following));
  if (named !== undefined) return named;
  const inTime =
    measure.inTime === undefined ? [] : scales.filter(({ kind }) => kind === 'year' || kind === 'date');
  const timed = best(inTime, (column) => 0.1 + nameMatch(column, asked.free));
  if (timed !== undefined) return timed;
  const measured = best(scales, (column) =>
    Math.max(0, ...measure.names.map((name, at) => (column.words.includes(name) ? 2 - at / 100 : 0))),
  );
  if (measured !== undefined) return measured;
  const elsewhere = best(scales, (column) =>
    nameMatch(
      column,
      asked.free.filter((word) => word.start !== start),
    ),
  );
  if (elsewhere !== undefined) return elsewhere;
  // "Which author has the most books": rows are counted where the noun is no column of numbers.
  const noun = following[0];
  const isCounting =
    measure.names.length === 0 &&
    noun !== undefined &&
    asked.columns.some(
      (column) => column.kind === 'text' && !column.isUnique && nameMatch(column, asked.free) > 0,
    );
  const alike = best(scales, (column) =>
    meaningMatch(column, [...following, ...(isCounting ? [] : asked.free)]),
  );
  if (alike !== undefined || isCounting) return alike;
  const plain = scales.filter(({ kind }) => kind === 'number');
  return plain.length === 1 ? plain[0] : undefined;
}

function targetOf(
  asked: AskedTable,
  superlativeAt: number,
  following: readonly AskedWord[],
): Column | undefined {
  const match =
    /\b(?:which|what|whose|name (?:of )?the|identify the|find the|give the)\s+(?:of the\s+|is the\s+|was the\s+|are the\s+|were the\s+)?/i.exec(
      asked.text,
    );
  if (match === null)
    return /\bwho\b/i.test(asked.text) ? (personColumn(asked) ?? nameColumn(asked)) : undefined;
  const noun = nounAt(asked, match.index + match[0].length, superlativeAt);
  const named = best(asked.columns, (column) => nameMatch(column, noun.slice(0, 3)));
  if (named !== undefined) return named;
  const texts = asked.columns.filter(({ kind }) => kind === 'text');
  if (noun.length > 0) return best(texts, (column) => meaningMatch(column, noun.slice(0, 1)));
  // "What is the most expensive product": the noun stands behind the superlative.
  const [next] = following;
  const isScale =
    next === undefined ||
    asked.columns.some((column) => isNumeric(column) && nameMatch(column, [next]) > 0.5);
  return isScale ? undefined : best(texts, (column) => nameMatch(column, [next]));
}

function nounAt(asked: AskedTable, at: number, superlativeAt: number): AskedWord[] {
  const rest = asked.words.filter(
    ({ start, end }) => start >= at && (end <= superlativeAt || superlativeAt < at),
  );
  const stop = rest.findIndex(({ lower }) => isStopWord(lower));
  const noun = stop < 0 ? rest : rest.slice(0, stop);
  return noun
    .filter(({ lower }) => lower !== 'one' && ordinalFromWord(lower) === undefined && !/^\d+$/.test(lower))
    .slice(0, 3);
}

function asksForRow(asked: AskedTable): boolean {
  return (
    /\b(?:which|who|whose|name)\b/i.test(asked.text) &&
    !/\bwhich (?:number|amount|value|price)\b/i.test(asked.text)
  );
}

function groupsFor(target: Column | undefined): Column | undefined {
  return target !== undefined && target.kind === 'text' && !target.isUnique ? target : undefined;
}

function isTotalled(asked: AskedTable, scale: Column): boolean {
  if (/\b(?:single|one|any one|individual|ever)\b/i.test(asked.text) || scale.kind !== 'number') return false;
  return /\b(?:total|totals|overall|altogether|in all|sum|combined|together|most|least|fewest|average|mean|per|aggregate|spend|spent|earn\w*|sold|sell|sells|largest|smallest|biggest|highest|lowest|contribut\w+)\b/i.test(
    asked.text,
  );
}
