import { asksForList } from '../fit-format.ts';
import { type AskedTable, askedTable, wordsAfter } from './asked-table.ts';
import { afterHowMany, columnByName, nameColumn, numericColumn, personColumn } from './choose-column.ts';
import { best, type Column, isNumeric, meaningMatch, nameMatch } from './columns.ts';
import { measureOf, measureOfPair } from './measures.ts';
import { superlative } from './superlative.ts';
import type { Fold, TablePlan } from './table-plan.ts';

/** What a question asks of a table, or why that cannot be told. */
export function planQuery(question: string, columns: readonly Column[]): TablePlan | string {
  const asked = askedTable(question, columns);
  if (asked === undefined) return 'The question compares with a number, and no column fits it.';
  return (
    range(asked) ??
    difference(asked) ??
    share(asked) ??
    distinct(asked) ??
    superlative(asked) ??
    fold(asked) ??
    howMany(asked) ??
    list(asked) ??
    lookup(asked) ??
    'The question names no column and no calculation that the table has.'
  );
}

function range(asked: AskedTable): TablePlan | undefined {
  const isAsked =
    /\bdifference between (?:the )?(?:\w+ )?(\w+est|most|least|maximum|minimum)\b.*\band (?:the )?(\w+est|most|least|maximum|minimum)\b|\brange of\b.*\b(?:values|numbers)\b/i.test(
      asked.text,
    );
  const column = isAsked ? numericColumn(asked, asked.free) : undefined;
  return column && { ask: 'range', column: column.name, where: asked.where };
}

function difference(asked: AskedTable): TablePlan | undefined {
  const isAsked =
    /\bdifferences?\b|\bby how (?:much|many)\b|\bhow (?:much|many)(?: \w+){0,3}? (?:more|less|fewer|higher|lower|larger|smaller|greater|longer|shorter)\b|\bexceed|\boutsell|\boutsold|\boutnumber|\boutperform/i.test(
      asked.text,
    );
  const split = asked.where.find(({ op, values }) => op === 'in' && values.length === 2);
  if (!isAsked || split === undefined) return undefined;
  const where = asked.where.filter((condition) => condition !== split);
  const fold = foldAsked(asked) ?? 'sum';
  const counted = afterHowMany(asked);
  const column =
    comparedColumn(asked) ??
    numericColumn(asked, counted.length > 0 ? counted : asked.free) ??
    numericColumn(asked, asked.free);
  return { ask: 'difference', column: column?.name, fold, split, where };
}

function comparedColumn(asked: AskedTable): Column | undefined {
  for (const [index, word] of asked.free.entries()) {
    const next = asked.free[index + 1];
    const measure =
      (next === undefined ? undefined : measureOfPair(word.lower, next.lower)) ?? measureOf(word.lower, 'er');
    const column = asked.columns
      .filter(isNumeric)
      .find(({ words }) => measure?.names.some((name) => words.includes(name)));
    if (column !== undefined) return column;
  }
  return undefined;
}

function share(asked: AskedTable): TablePlan | undefined {
  const match = /\b(?:what|which) (?:percentage|percent|per cent|share|proportion|fraction|part)\b/i.exec(
    asked.text,
  );
  if (match === null || asked.where.length === 0) return undefined;
  // Before the verb stands what the percentage is of: "what percentage of the books at Quayside were …".
  const verb =
    /\b(?:is|are|was|were|has|have|had|did|do|does|comes?|came|went|go|goes|belongs?|falls?|cost|lies?)\b/i.exec(
      asked.text.slice(match.index + match[0].length),
    );
  const at = verb === null ? 0 : match.index + match[0].length + verb.index;
  const before = verb === null ? [] : asked.where.filter(({ end }) => end <= at);
  const part = asked.where.filter((condition) => !before.includes(condition));
  const isOfSum = /\btotal\b|\bsum\b|\ball (?:the )?(?:money|sales|revenue)\b/i.test(asked.text);
  const near = wordsAfter(asked.words, match.index + match[0].length, 3);
  const named = best(
    asked.columns.filter(({ kind }) => kind === 'number'),
    (one) => (nameMatch(one, near) >= 0.5 ? nameMatch(one, near) : 0),
  );
  const column = isOfSum ? numericColumn(asked, asked.free) : named;
  return part.length === 0
    ? { ask: 'share', column: column?.name, part: asked.where, where: [] }
    : { ask: 'share', column: column?.name, part, where: before };
}

function distinct(asked: AskedTable): TablePlan | undefined {
  const match =
    /\bhow many (?:\w+ )?(?:different|distinct|unique|separate)\b|\bnumber of (?:different|distinct|unique)\b/i.exec(
      asked.text,
    );
  if (match === null) return undefined;
  const following = wordsAfter(asked.words, match.index + match[0].length, 3);
  const column =
    best(asked.columns, (one) => nameMatch(one, following)) ??
    best(asked.columns, (one) => meaningMatch(one, following.slice(0, 2))) ??
    nameColumn(asked);
  return column && { ask: 'count_distinct', column: column.name, where: asked.where };
}

function foldAsked(asked: AskedTable): Fold | undefined {
  if (/\b(?:average|mean|averaged|on average)\b/i.test(asked.text)) return 'mean';
  if (/\bmedian\b/i.test(asked.text)) return 'median';
  if (
    /\b(?:total|totals|totalled|sum|altogether|combined|in all|overall|add up|in total|aggregate|all together)\b/i.test(
      asked.text,
    )
  )
    return 'sum';
  return undefined;
}

function fold(asked: AskedTable): TablePlan | undefined {
  const fold = foldAsked(asked);
  if (fold === undefined) return undefined;
  const counted = afterHowMany(asked);
  const byNoun = counted.length > 0 ? columnByName(asked, counted) : undefined;
  // "How many tickets in total": rows, unless the noun is a column of numbers.
  if (fold === 'sum' && counted.length > 0 && byNoun === undefined && !/\bhow much\b/i.test(asked.text))
    return undefined;
  const column = byNoun ?? numericColumn(asked, asked.free);
  return column && { ask: fold, column: column.name, where: asked.where };
}

function howMany(asked: AskedTable): TablePlan | undefined {
  if (/\bhow much\b/i.test(asked.text)) {
    const column = numericColumn(asked, asked.free);
    return column && { ask: 'sum', column: column.name, where: asked.where };
  }
  const counted = afterHowMany(asked);
  if (counted.length === 0) return undefined;
  const column = columnByName(asked, counted);
  if (column !== undefined && isNumeric(column))
    return { ask: 'sum', column: column.name, where: asked.where };
  // "How many lamps were sold": lamps are rows, and a column says how many each is about.
  const isOfRows = asked.where.some(
    ({ op, start }) =>
      op === 'in' && start <= (counted[0]?.end ?? 0) && start >= (counted[0]?.start ?? 0) - 1,
  );
  const amount = isOfRows
    ? asked.columns.find(
        ({ kind, words }) =>
          kind === 'number' &&
          words.some((word) =>
            /^(?:quantity|qty|units?|count|sold|pieces|stock|number|copies)$/.test(word),
          ) &&
          !words.some((word) => /^(?:price|cost|id)$/.test(word)),
      )
    : undefined;
  if (amount !== undefined) return { ask: 'sum', column: amount.name, where: asked.where };
  const isPlain = asked.columns.some((one) => nameMatch(one, counted) > 0) || asked.where.length > 0;
  const byUnit = isPlain
    ? undefined
    : best(asked.columns.filter(isNumeric), (one) => meaningMatch(one, counted.slice(0, 1)));
  return byUnit === undefined
    ? { ask: 'count', where: asked.where }
    : { ask: 'sum', column: byUnit.name, where: asked.where };
}

function list(asked: AskedTable): TablePlan | undefined {
  const isAsked =
    asksForList(asked.question) ||
    /\b(?:list|name|which|what are)\b(?: \w+){0,2} (?:all|every|each|the names?)\b|\b(?:list|name) (?:all|every|each|the)\b|^\s*list\b|\bwhat are the names\b/i.test(
      asked.question,
    );
  if (!isAsked) return undefined;
  const match =
    /\b(?:list|name|which|what are|give|who are)\s+(?:me\s+)?(?:all\s+|every\s+|each\s+|the\s+|names? of\s+|of\s+)*/i.exec(
      asked.text,
    );
  const noun = match === null ? [] : wordsAfter(asked.words, match.index + match[0].length, 2);
  const column = best(asked.columns, (one) => nameMatch(one, noun)) ?? nameColumn(asked);
  return column && { ask: 'list', column: column.name, where: asked.where };
}

function lookup(asked: AskedTable): TablePlan | undefined {
  if (asked.where.length === 0) return undefined;
  const used = new Set(asked.where.map(({ column }) => column));
  const open = asked.columns.filter(({ name }) => !used.has(name));
  const byWord = /\b(?:who|whose|whom)\b/i.test(asked.text)
    ? personColumn(asked)
    : /\b(?:when|what year|which year|what date)\b/i.test(asked.text)
      ? open.find(({ kind }) => kind === 'date' || kind === 'year')
      : undefined;
  const named = best(open, (column) => nameMatch(column, asked.free));
  const measure = /\bhow (\w+)\b/i.exec(asked.text)?.[1];
  const measured =
    measure === undefined
      ? undefined
      : best(open, (column) =>
          (
            measureOf(`${measure}est`, 'est') ?? measureOf(`${measure.replace(/y$/, 'i')}est`, 'est')
          )?.names.some((name) => column.words.includes(name))
            ? 1
            : 0,
        );
  const column =
    named ??
    measured ??
    byWord ??
    best(open, (one) => meaningMatch(one, asked.free)) ??
    (/\b(?:which|who|what)\b/i.test(asked.text) ? nameColumn(asked) : undefined);
  // Of several rows, sums of money are meant together.
  const isFlow =
    column?.kind === 'number' &&
    /\b(?:revenues?|sales|incomes?|earnings|spending|expens\w+|takings|turnover|profits?|proceeds)\b/i.test(
      asked.text,
    );
  if (isFlow)
    return { ask: 'sum', column: (numericColumn(asked, asked.free) ?? column).name, where: asked.where };
  return column && { ask: 'lookup', column: column.name, where: asked.where };
}
