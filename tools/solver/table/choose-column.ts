import { isStopWord } from '../../reader/words.ts';
import type { AskedTable } from './asked-table.ts';
import { type AskedWord, best, type Column, isNumeric, meaningMatch, nameMatch } from './columns.ts';

export function afterHowMany(asked: AskedTable): AskedWord[] {
  const match =
    /\bhow many\s+(?:more |fewer |less )?(?:of (?:the|these|those) )?|\b(?:total )?number of (?:the )?/i.exec(
      asked.text,
    );
  if (match === null) return [];
  const from = match.index + match[0].length;
  const rest = asked.words.filter(({ start }) => start >= from).slice(0, 4);
  const stop = rest.findIndex(
    ({ lower }, index) => index > 0 && (isStopWord(lower) || /(?:ed|ing)$/.test(lower)),
  );
  return stop < 0 ? rest.slice(0, 3) : rest.slice(0, stop);
}

export function columnByName(asked: AskedTable, words: readonly AskedWord[]): Column | undefined {
  const numeric = asked.columns.filter(isNumeric);
  const [first] = words;
  const unit =
    first === undefined
      ? undefined
      : numeric.find(
          (column) =>
            column.unit !== undefined && first.lower.startsWith(column.unit) && column.unit.length > 1,
        );
  return best(numeric, (column) => nameMatch(column, words)) ?? unit;
}

export function numericColumn(asked: AskedTable, words: readonly AskedWord[]): Column | undefined {
  const used = new Set(asked.where.map(({ column }) => column));
  const numeric = asked.columns.filter((column) => column.kind === 'number');
  const points = (column: Column) => nameMatch(column, words) * (used.has(column.name) ? 0.4 : 1);
  const named = best(numeric, points);
  const isPartly = named !== undefined && points(named) < 0.5 && MONEY.test(asked.text);
  if (named !== undefined && !isPartly) return named;
  const priced = MONEY.test(asked.text) ? best(numeric, moneyPoints) : undefined;
  if (priced !== undefined) return priced;
  return (
    best(numeric, (column) => meaningMatch(column, words)) ?? (numeric.length === 1 ? numeric[0] : undefined)
  );
}

export function nameColumn(asked: AskedTable): Column | undefined {
  const texts = asked.columns.filter(({ kind }) => kind === 'text');
  const isCode = ({ values }: Column) =>
    values.slice(0, 20).every((value) => /^[A-Z]{0,4}[-_ ]?\d+$/i.test(value));
  const used = new Set(
    asked.where.filter(({ op, values }) => op === 'in' && values.length === 1).map(({ column }) => column),
  );
  return (
    texts.find((column) => column.isUnique && !isCode(column)) ??
    texts.find((column) => !isCode(column) && !used.has(column.name)) ??
    texts[0]
  );
}

export function personColumn(asked: AskedTable): Column | undefined {
  const persons =
    /^(?:name|person|author|member|player|employee|student|customer|driver|tenant|owner|teacher|manager|artist|writer|director|winner|runner|contact|staff|operator|captain|guest)s?$/;
  return asked.columns.find(({ words, kind }) => kind === 'text' && words.some((word) => persons.test(word)));
}

const MONEY =
  /\b(?:spen[dt]\w*|cost\w*|pa(?:y|id|ys)|earn\w*|money|takings|incomes?|revenues?|sales|expens\w+|charged?|worth|made|bring in|brought in|turnover|profits?)\b/i;

/** Sums of money before prices of one thing. */
function moneyPoints({ words, unit }: Column): number {
  if (
    words.some((word) =>
      /^(?:amount|revenue|sales|total|income|expense|sum|paid|spent|takings|earnings|turnover|cost)s?$/.test(
        word,
      ),
    )
  )
    return 2;
  const isPrice =
    words.some((word) => /^(?:price|fare|fee|value|rent|salary|wage)s?$/.test(word)) ||
    /^(?:eur|usd|gbp|\$|€|£)$/.test(unit ?? '');
  return isPrice ? 1 : 0;
}
