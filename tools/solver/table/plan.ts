import { isStopWord, splitWords } from '../../reader/words.ts';
import { asksForList } from '../fit-format.ts';
import { figuresForWords, ORDINAL_PATTERN, ordinalFromWord } from '../number-words.ts';
import { withoutInstructions } from '../instructions.ts';
import { type AskedWord, type Column, isNumeric, meaningMatch, nameMatch } from './columns.ts';
import { type AskedCondition, best, readConditions } from './conditions.ts';
import { endIn, type Measure, measureOf, measureOfPair } from './measures.ts';

/** What is to be calculated from the rows that hold all conditions. */
export type TablePlan = { readonly where: readonly AskedCondition[] } & (
  | { readonly ask: 'count' }
  | { readonly ask: 'count_distinct' | 'sum' | 'mean' | 'median' | 'min' | 'max'; readonly column: string }
  | { readonly ask: 'list' | 'lookup'; readonly column: string }
  /** The rows in the order of `by`, from one end: of the `rank`-th, or the first `count`, the value in `column`. */
  | { readonly ask: 'ranked'; readonly by: string; readonly end: 'max' | 'min'; readonly rank: number; readonly count: number; readonly column: string }
  /** Rows are put together by `column`; the group whose `fold` of `by` (or number of rows) is at the end of the scale. */
  | { readonly ask: 'group'; readonly column: string; readonly by: string | undefined; readonly fold: 'sum' | 'mean'; readonly end: 'max' | 'min' }
  /** Between two groups of `split.column`. */
  | { readonly ask: 'difference'; readonly column: string | undefined; readonly fold: Fold; readonly split: AskedCondition }
  /** The largest less the smallest. */
  | { readonly ask: 'range'; readonly column: string }
  /** Of the rows (or the sum of `column`) without `part`, the percentage that holds it, too. */
  | { readonly ask: 'share'; readonly column: string | undefined; readonly part: readonly AskedCondition[] }
);

type Fold = 'sum' | 'mean' | 'median' | 'min' | 'max';

/** What a question asks of a table, or why that cannot be told. */
export function planQuery(question: string, columns: readonly Column[]): TablePlan | string {
  const text = figuresForWords(aboutTheTable(withoutInstructions(question)));
  const words = splitWords(text);
  const where = readConditions(text, words, columns);
  if (where === undefined) return 'The question compares with a number, and no column fits it.';
  return new Planner(question, text, words, columns, where).plan();
}

const FILE_NOUN =
  'files?|spreadsheets?|workbooks?|tables?|sheets?|csv|excel|list|listing|catalog(?:ue)?|log|accounts?|data ?set|data|document|archive|json|xlsx|zip|records?|register|ledger|attachment|database|inventory|export';

/** What names the file itself says nothing about its columns. */
function aboutTheTable(question: string): string {
  return question
    .replace(new RegExp(`\\b(?:the |this |an |my |our )?attached(?:\\s+[\\w'’-]+){0,3}?\\s+(?:${FILE_NOUN})\\b`, 'gi'), ' ')
    .replace(new RegExp(`\\b(?:this|the)\\s+(?:${FILE_NOUN})\\b(?:\\s+(?:that )?(?:i have|i've|is|was) attached)?`, 'gi'), ' ')
    .replace(/\battached\b|\b(?:that )?(?:i have|i've) attached\b/gi, ' ');
}

class Planner {
  readonly #question: string;
  readonly #text: string;
  readonly #words: readonly AskedWord[];
  readonly #columns: readonly Column[];
  readonly #where: readonly AskedCondition[];
  /** The words that no condition has used. */
  readonly #free: readonly AskedWord[];

  constructor(question: string, text: string, words: readonly AskedWord[], columns: readonly Column[], where: readonly AskedCondition[]) {
    this.#question = question;
    this.#text = text;
    this.#words = words;
    this.#columns = columns;
    this.#where = where;
    this.#free = words.filter(({ start, end }) => where.every((condition) => end <= condition.start || start >= condition.end));
  }

  plan(): TablePlan | string {
    return (
      this.#range() ??
      this.#difference() ??
      this.#share() ??
      this.#distinct() ??
      this.#superlative() ??
      this.#fold() ??
      this.#howMany() ??
      this.#list() ??
      this.#lookup() ??
      'The question names no column and no calculation that the table has.'
    );
  }

  #range(): TablePlan | undefined {
    const isAsked = /\bdifference between (?:the )?(?:\w+ )?(\w+est|most|least|maximum|minimum)\b.*\band (?:the )?(\w+est|most|least|maximum|minimum)\b|\brange of\b.*\b(?:values|numbers)\b/i.test(this.#text);
    const column = isAsked ? this.#numericColumn(this.#free) : undefined;
    return column && { ask: 'range', column: column.name, where: this.#where };
  }

  #difference(): TablePlan | undefined {
    const isAsked =
      /\bdifferences?\b|\bby how (?:much|many)\b|\bhow (?:much|many)(?: \w+){0,3}? (?:more|less|fewer|higher|lower|larger|smaller|greater|longer|shorter)\b|\bexceed|\boutsell|\boutsold|\boutnumber|\boutperform/i.test(this.#text);
    const split = this.#where.find(({ op, values }) => op === 'in' && values.length === 2);
    if (!isAsked || split === undefined) return undefined;
    const where = this.#where.filter((condition) => condition !== split);
    const fold = this.#foldAsked() ?? 'sum';
    const counted = this.#afterHowMany();
    const column = this.#comparedColumn() ?? this.#numericColumn(counted.length > 0 ? counted : this.#free) ?? this.#numericColumn(this.#free);
    return { ask: 'difference', column: column?.name, fold, split, where };
  }

  /** "How much longer", "how much more expensive": what the comparative measures. */
  #comparedColumn(): Column | undefined {
    for (const [index, word] of this.#free.entries()) {
      const next = this.#free[index + 1];
      const measure = (next === undefined ? undefined : measureOfPair(word.lower, next.lower)) ?? measureOf(word.lower, 'er');
      const column = this.#columns.filter(isNumeric).find(({ words }) => measure?.names.some((name) => words.includes(name)));
      if (column !== undefined) return column;
    }
    return undefined;
  }

  #share(): TablePlan | undefined {
    const match = /\b(?:what|which) (?:percentage|percent|per cent|share|proportion|fraction|part)\b/i.exec(this.#text);
    if (match === null || this.#where.length === 0) return undefined;
    // Before the verb stands what the percentage is of: "what percentage of the books at Quayside were …".
    const verb = /\b(?:is|are|was|were|has|have|had|did|do|does|comes?|came|went|go|goes|belongs?|falls?|cost|lies?)\b/i.exec(this.#text.slice(match.index + match[0].length));
    const at = verb === null ? 0 : match.index + match[0].length + verb.index;
    const before = verb === null ? [] : this.#where.filter(({ end }) => end <= at);
    const part = this.#where.filter((condition) => !before.includes(condition));
    const isOfSum = /\btotal\b|\bsum\b|\ball (?:the )?(?:money|sales|revenue)\b/i.test(this.#text);
    const near = wordsAfter(this.#words, match.index + match[0].length, 3);
    const named = best(this.#columns.filter(({ kind }) => kind === 'number'), (one) => (nameMatch(one, near) >= 0.5 ? nameMatch(one, near) : 0));
    const column = isOfSum ? this.#numericColumn(this.#free) : named;
    return part.length === 0
      ? { ask: 'share', column: column?.name, part: this.#where, where: [] }
      : { ask: 'share', column: column?.name, part, where: before };
  }

  #distinct(): TablePlan | undefined {
    const match = /\bhow many (?:\w+ )?(?:different|distinct|unique|separate)\b|\bnumber of (?:different|distinct|unique)\b/i.exec(this.#text);
    if (match === null) return undefined;
    const following = wordsAfter(this.#words, match.index + match[0].length, 3);
    const column = best(this.#columns, (one) => nameMatch(one, following)) ?? best(this.#columns, (one) => meaningMatch(one, following.slice(0, 2))) ?? this.#nameColumn();
    return column && { ask: 'count_distinct', column: column.name, where: this.#where };
  }

  /** "Which … is the tallest", "the highest fare", "the three largest". */
  #superlative(): TablePlan | string | undefined {
    const found = this.#findSuperlative();
    if (found === undefined) return undefined;
    const { measure, start, end } = found;
    const following = wordsAfter(this.#free, end, 4);
    const scale = this.#scaleFor(measure, following, start);
    const target = this.#target(start, following);
    const groups = this.#groupsFor(target);
    if (groups !== undefined && (scale === undefined || this.#isTotalled(scale))) {
      const fold = /\b(?:average|mean)\b/i.test(this.#text) ? 'mean' : 'sum';
      const end = scale === undefined ? measure.end : endIn(measure, scale);
      return { ask: 'group', column: groups.name, by: scale?.name, fold, end, where: this.#where };
    }
    if (scale === undefined) return 'It is not clear which column the largest or smallest is meant of.';
    const isValue = (target !== undefined && target === scale) || (target === undefined && /\b(?:what|how)\b/i.test(this.#text) && !this.#asksForRow());
    if (isValue) {
      if (found.rank === 1 && found.count === 1) return { ask: endIn(measure, scale), column: scale.name, where: this.#where };
    }
    const column = isValue ? scale : (target ?? this.#nameColumn());
    if (column === undefined) return 'It is not clear which column names the rows.';
    return { ask: 'ranked', by: scale.name, end: endIn(measure, scale), rank: found.rank, count: found.count, column: column.name, where: this.#where };
  }

  #findSuperlative(): { measure: Measure; start: number; end: number; rank: number; count: number } | undefined {
    for (const [index, word] of this.#free.entries()) {
      const next = this.#free[index + 1];
      const pair = next === undefined ? undefined : measureOfPair(word.lower, next.lower);
      const measure = pair ?? measureOf(word.lower, 'est');
      if (measure === undefined || !this.#isSuperlative(word)) continue;
      const before = this.#text.slice(Math.max(0, word.start - 24), word.start);
      // "at least", "at most" compare.
      if (/\bat\s+$/i.test(before)) continue;
      const ordinal = new RegExp(`\\b(${ORDINAL_PATTERN})[\\s-]+$`, 'i').exec(before)?.[1];
      const rank = ordinal === undefined || /^(?:last|first)$/i.test(ordinal) ? 1 : Math.abs(ordinalFromWord(ordinal) ?? 1);
      const count = /\b(?:the )?(\d{1,2})\s+$/.exec(before)?.[1] ?? /^\s*(\d{1,2})\b/.exec(this.#text.slice(word.end))?.[1];
      const isCount = word.lower === 'top' || /\b(?:the )?\d{1,2}\s+$/.test(before);
      return { measure, start: word.start, end: (pair === undefined ? word : (next ?? word)).end, rank, count: isCount && count !== undefined ? Number(count) : 1 };
    }
    return undefined;
  }

  /** "Was first lit" is none beside "the earliest", "last autumn" is none at all. */
  #isSuperlative(word: AskedWord): boolean {
    if (!/^(?:first|last|latest)$/.test(word.lower)) return true;
    if (/\bhow many\b/i.test(this.#text) || /^\s+(?:\w+day|week|month|year|spring|summer|autumn|fall|winter|season|name)/i.test(this.#text.slice(word.end))) return false;
    const hasOther = this.#free.some(({ lower }) => !/^(?:first|last)$/.test(lower) && measureOf(lower, 'est') !== undefined);
    return !hasOther && this.#columns.some(({ kind }) => kind === 'date' || kind === 'year');
  }

  #scaleFor(measure: Measure, following: readonly AskedWord[], start: number): Column | undefined {
    const scales = this.#columns.filter((column) => isNumeric(column) || (column.kind === 'date' && measure.inTime !== undefined));
    const named = best(scales, (column) => nameMatch(column, following));
    if (named !== undefined) return named;
    const inTime = measure.inTime === undefined ? [] : scales.filter(({ kind }) => kind === 'year' || kind === 'date');
    const timed = best(inTime, (column) => 0.1 + nameMatch(column, this.#free));
    if (timed !== undefined) return timed;
    const measured = best(scales, (column) => Math.max(0, ...measure.names.map((name, at) => (column.words.includes(name) ? 2 - at / 100 : 0))));
    if (measured !== undefined) return measured;
    const elsewhere = best(scales, (column) => nameMatch(column, this.#free.filter((word) => word.start !== start)));
    if (elsewhere !== undefined) return elsewhere;
    // "Which author has the most books": rows are counted where the noun is no column of numbers.
    const noun = following[0];
    const isCounting = measure.names.length === 0 && noun !== undefined && this.#columns.some((column) => column.kind === 'text' && !column.isUnique && nameMatch(column, this.#free) > 0);
    const alike = best(scales, (column) => meaningMatch(column, [...following, ...(isCounting ? [] : this.#free)]));
    if (alike !== undefined || isCounting) return alike;
    const plain = scales.filter(({ kind }) => kind === 'number');
    return plain.length === 1 ? plain[0] : undefined;
  }

  /** The column whose value is asked for: the noun behind "which", "what" or "in which", or "who", "when". */
  #target(superlativeAt: number, following: readonly AskedWord[]): Column | undefined {
    const match = /\b(?:which|what|whose|name (?:of )?the|identify the|find the|give the)\s+(?:of the\s+|is the\s+|was the\s+|are the\s+|were the\s+)?/i.exec(this.#text);
    if (match === null) return /\bwho\b/i.test(this.#text) ? (this.#personColumn() ?? this.#nameColumn()) : undefined;
    const noun = this.#nounAt(match.index + match[0].length, superlativeAt);
    const named = best(this.#columns, (column) => nameMatch(column, noun.slice(0, 3)));
    if (named !== undefined) return named;
    const texts = this.#columns.filter(({ kind }) => kind === 'text');
    if (noun.length > 0) return best(texts, (column) => meaningMatch(column, noun.slice(0, 1)));
    // "What is the most expensive product": the noun stands behind the superlative.
    const [next] = following;
    const isScale = next === undefined || this.#columns.some((column) => isNumeric(column) && nameMatch(column, [next]) > 0.5);
    return isScale ? undefined : best(texts, (column) => nameMatch(column, [next]));
  }

  /** The words of the noun that begins there: up to the verb, or to what is said about it. */
  #nounAt(at: number, superlativeAt: number): AskedWord[] {
    const rest = this.#words.filter(({ start, end }) => start >= at && (end <= superlativeAt || superlativeAt < at));
    const stop = rest.findIndex(({ lower }) => isStopWord(lower));
    const noun = stop < 0 ? rest : rest.slice(0, stop);
    return noun.filter(({ lower }) => lower !== 'one' && ordinalFromWord(lower) === undefined && !/^\d+$/.test(lower)).slice(0, 3);
  }

  /** "Which one", "which of the goods", "what is the tallest …": a row is meant, by its name. */
  #asksForRow(): boolean {
    return /\b(?:which|who|whose|name)\b/i.test(this.#text) && !/\bwhich (?:number|amount|value|price)\b/i.test(this.#text);
  }

  /** The column to put rows together by: a text that several rows share. */
  #groupsFor(target: Column | undefined): Column | undefined {
    return target !== undefined && target.kind === 'text' && !target.isUnique ? target : undefined;
  }

  /** Whether the scale's numbers are added up within a group; "the highest single fare" and a tallest tower are not. */
  #isTotalled(scale: Column): boolean {
    if (/\b(?:single|one|any one|individual|ever)\b/i.test(this.#text) || scale.kind !== 'number') return false;
    return /\b(?:total|totals|overall|altogether|in all|sum|combined|together|most|least|fewest|average|mean|per|aggregate|spend|spent|earn\w*|sold|sell|sells|largest|smallest|biggest|highest|lowest|contribut\w+)\b/i.test(this.#text);
  }

  #foldAsked(): Fold | undefined {
    if (/\b(?:average|mean|averaged|on average)\b/i.test(this.#text)) return 'mean';
    if (/\bmedian\b/i.test(this.#text)) return 'median';
    if (/\b(?:total|totals|totalled|sum|altogether|combined|in all|overall|add up|in total|aggregate|all together)\b/i.test(this.#text)) return 'sum';
    return undefined;
  }

  #fold(): TablePlan | undefined {
    const fold = this.#foldAsked();
    if (fold === undefined) return undefined;
    const counted = this.#afterHowMany();
    const byNoun = counted.length > 0 ? this.#byName(counted) : undefined;
    // "How many tickets in total": rows, unless the noun is a column of numbers.
    if (fold === 'sum' && counted.length > 0 && byNoun === undefined && !/\bhow much\b/i.test(this.#text)) return undefined;
    const column = byNoun ?? this.#numericColumn(this.#free);
    return column && { ask: fold, column: column.name, where: this.#where };
  }

  #howMany(): TablePlan | undefined {
    if (/\bhow much\b/i.test(this.#text)) {
      const column = this.#numericColumn(this.#free);
      return column && { ask: 'sum', column: column.name, where: this.#where };
    }
    const counted = this.#afterHowMany();
    if (counted.length === 0) return undefined;
    const column = this.#byName(counted);
    if (column !== undefined && isNumeric(column)) return { ask: 'sum', column: column.name, where: this.#where };
    // "How many lamps were sold": lamps are rows, and a column says how many each is about.
    const isOfRows = this.#where.some(({ op, start }) => op === 'in' && start <= (counted[0]?.end ?? 0) && start >= (counted[0]?.start ?? 0) - 1);
    const amount = isOfRows ? this.#columns.find(({ kind, words }) => kind === 'number' && words.some((word) => /^(?:quantity|qty|units?|count|sold|pieces|stock|number|copies)$/.test(word)) && !words.some((word) => /^(?:price|cost|id)$/.test(word))) : undefined;
    if (amount !== undefined) return { ask: 'sum', column: amount.name, where: this.#where };
    const isPlain = this.#columns.some((one) => nameMatch(one, counted) > 0) || this.#where.length > 0;
    const byUnit = isPlain ? undefined : best(this.#columns.filter(isNumeric), (one) => meaningMatch(one, counted.slice(0, 1)));
    return byUnit === undefined ? { ask: 'count', where: this.#where } : { ask: 'sum', column: byUnit.name, where: this.#where };
  }

  /** The words of the noun behind "how many" or "number of", up to its verb. */
  #afterHowMany(): AskedWord[] {
    const match = /\bhow many\s+(?:more |fewer |less )?(?:of (?:the|these|those) )?|\b(?:total )?number of (?:the )?/i.exec(this.#text);
    if (match === null) return [];
    const from = match.index + match[0].length;
    const rest = this.#words.filter(({ start }) => start >= from).slice(0, 4);
    const stop = rest.findIndex(({ lower }, index) => index > 0 && (isStopWord(lower) || /(?:ed|ing)$/.test(lower)));
    return stop < 0 ? rest.slice(0, 3) : rest.slice(0, stop);
  }

  #byName(words: readonly AskedWord[]): Column | undefined {
    const numeric = this.#columns.filter(isNumeric);
    const [first] = words;
    const unit = first === undefined ? undefined : numeric.find((column) => column.unit !== undefined && first.lower.startsWith(column.unit) && column.unit.length > 1);
    return best(numeric, (column) => nameMatch(column, words)) ?? unit;
  }

  /** The column of numbers that the words name, or mean; the only one there is. */
  #numericColumn(words: readonly AskedWord[]): Column | undefined {
    const used = new Set(this.#where.map(({ column }) => column));
    const numeric = this.#columns.filter((column) => column.kind === 'number');
    const points = (column: Column) => nameMatch(column, words) * (used.has(column.name) ? 0.4 : 1);
    const named = best(numeric, points);
    const isPartly = named !== undefined && points(named) < 0.5 && MONEY.test(this.#text);
    if (named !== undefined && !isPartly) return named;
    const priced = MONEY.test(this.#text) ? best(numeric, moneyPoints) : undefined;
    if (priced !== undefined) return priced;
    return best(numeric, (column) => meaningMatch(column, words)) ?? (numeric.length === 1 ? numeric[0] : undefined);
  }

  #list(): TablePlan | undefined {
    const isAsked = asksForList(this.#question) || /\b(?:list|name|which|what are)\b(?: \w+){0,2} (?:all|every|each|the names?)\b|\b(?:list|name) (?:all|every|each|the)\b|^\s*list\b|\bwhat are the names\b/i.test(this.#question);
    if (!isAsked) return undefined;
    const match = /\b(?:list|name|which|what are|give|who are)\s+(?:me\s+)?(?:all\s+|every\s+|each\s+|the\s+|names? of\s+|of\s+)*/i.exec(this.#text);
    const noun = match === null ? [] : wordsAfter(this.#words, match.index + match[0].length, 2);
    const column = best(this.#columns, (one) => nameMatch(one, noun)) ?? this.#nameColumn();
    return column && { ask: 'list', column: column.name, where: this.#where };
  }

  /** The value in one column of the row that the question names. */
  #lookup(): TablePlan | undefined {
    if (this.#where.length === 0) return undefined;
    const used = new Set(this.#where.map(({ column }) => column));
    const open = this.#columns.filter(({ name }) => !used.has(name));
    const asked = /\b(?:who|whose|whom)\b/i.test(this.#text) ? this.#personColumn() : /\b(?:when|what year|which year|what date)\b/i.test(this.#text) ? open.find(({ kind }) => kind === 'date' || kind === 'year') : undefined;
    const named = best(open, (column) => nameMatch(column, this.#free));
    const measure = /\bhow (\w+)\b/i.exec(this.#text)?.[1];
    const measured = measure === undefined ? undefined : best(open, (column) => ((measureOf(`${measure}est`, 'est') ?? measureOf(`${measure.replace(/y$/, 'i')}est`, 'est'))?.names.some((name) => column.words.includes(name)) ? 1 : 0));
    const column = named ?? measured ?? asked ?? best(open, (one) => meaningMatch(one, this.#free)) ?? (/\b(?:which|who|what)\b/i.test(this.#text) ? this.#nameColumn() : undefined);
    // Of several rows, sums of money are meant together.
    const isFlow = column?.kind === 'number' && /\b(?:revenues?|sales|incomes?|earnings|spending|expens\w+|takings|turnover|profits?|proceeds)\b/i.test(this.#text);
    if (isFlow) return { ask: 'sum', column: (this.#numericColumn(this.#free) ?? column).name, where: this.#where };
    return column && { ask: 'lookup', column: column.name, where: this.#where };
  }

  /** The column that says which thing a row is about: the first of texts that are all different, else of texts. */
  #nameColumn(): Column | undefined {
    const texts = this.#columns.filter(({ kind }) => kind === 'text');
    const isCode = ({ values }: Column) => values.slice(0, 20).every((value) => /^[A-Z]{0,4}[-_ ]?\d+$/i.test(value));
    const used = new Set(this.#where.filter(({ op, values }) => op === 'in' && values.length === 1).map(({ column }) => column));
    return texts.find((column) => column.isUnique && !isCode(column)) ?? texts.find((column) => !isCode(column) && !used.has(column.name)) ?? texts[0];
  }

  #personColumn(): Column | undefined {
    const persons = /^(?:name|person|author|member|player|employee|student|customer|driver|tenant|owner|teacher|manager|artist|writer|director|winner|runner|contact|staff|operator|captain|guest)s?$/;
    return this.#columns.find(({ words, kind }) => kind === 'text' && words.some((word) => persons.test(word)));
  }
}

const MONEY = /\b(?:spen[dt]\w*|cost\w*|pa(?:y|id|ys)|earn\w*|money|takings|incomes?|revenues?|sales|expens\w+|charged?|worth|made|bring in|brought in|turnover|profits?)\b/i;

/** Sums of money before prices of one thing. */
function moneyPoints({ words, unit }: Column): number {
  if (words.some((word) => /^(?:amount|revenue|sales|total|income|expense|sum|paid|spent|takings|earnings|turnover|cost)s?$/.test(word))) return 2;
  const isPrice = words.some((word) => /^(?:price|fare|fee|value|rent|salary|wage)s?$/.test(word)) || /^(?:eur|usd|gbp|\$|€|£)$/.test(unit ?? '');
  return isPrice ? 1 : 0;
}

function wordsAfter(words: readonly AskedWord[], at: number, count: number): AskedWord[] {
  return words.filter(({ start, lower }) => start >= at && !isStopWord(lower)).slice(0, count);
}
