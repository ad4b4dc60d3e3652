import { MeshError } from '../../../core/contracts/errors.ts';
import { dateOf, instantOf } from '../values/date.ts';
import { EMPTY, numberValue, textValue, truthValue, type Value } from '../values/value.ts';
import { noColumn } from './find-column.ts';
import { END, type Token, tokensOf } from './formula-tokens.ts';
import type { Frame } from './frame.ts';

/** A formula as a tree. */
export type Formula =
  | { readonly is: 'constant'; readonly value: Value }
  | { readonly is: 'column'; readonly name: string }
  | { readonly is: 'call'; readonly name: string; readonly of: readonly Formula[] };

/** A formula with the name that its result is to have. */
export interface NamedFormula {
  readonly formula: Formula;
  /** As it was written, or behind `as`. */
  readonly name: string;
  readonly isNamed: boolean;
  /** Behind it stood `desc`. */
  readonly isDescending: boolean;
}

/** Longer ones are programs, and there is Python for those. */
const MAX_CHARACTERS = 4000;
const MAX_DEPTH = 40;

/**
 * Formulas as spreadsheets and SQL have them: `Sales / Units`, `year(Date) = 2024 and City in ('Oslo', 'Rome')`. Names of columns may
 * stand as they are, spaces included, or in double quotes; texts in single ones. Commas separate several, `as` names them.
 *
 * @throws MeshError `tool`, with the place and what was expected
 */
export function parseFormulas(text: string, frame: Frame): NamedFormula[] {
  if (text.length > MAX_CHARACTERS)
    throw new MeshError(
      'tool',
      `a formula has at most ${MAX_CHARACTERS} characters; this one has ${text.length}`,
    );
  return new Parser(text, frame).all();
}

/** @throws MeshError `tool` for more or less than one */
export function parseFormula(text: string, frame: Frame): NamedFormula {
  const [only, ...more] = parseFormulas(text, frame);
  if (only === undefined || more.length > 0)
    throw new MeshError('tool', `expected one formula, and ${JSON.stringify(text)} is ${more.length + 1}`);
  return only;
}

class Parser {
  readonly #text: string;
  readonly #frame: Frame;
  readonly #tokens: readonly Token[];
  #at = 0;
  #depth = 0;

  constructor(text: string, frame: Frame) {
    this.#text = text;
    this.#frame = frame;
    this.#tokens = tokensOf(text, frame);
  }

  all(): NamedFormula[] {
    const found: NamedFormula[] = [];
    do {
      const from = this.#now.from;
      const formula = this.#or();
      let name = this.#text.slice(from, this.#before.to).trim();
      const [, bare] = /^(?:"(.*)"|`(.*)`|\[(.*)\])$/s.exec(name) ?? [];
      if (formula.is === 'column') name = formula.name;
      else if (bare !== undefined) name = bare;
      const isNamed = this.#takeWord('as');
      if (isNamed) name = this.#take().text;
      const isDescending = this.#takeWord('desc', 'descending');
      if (!isDescending) this.#takeWord('asc', 'ascending');
      found.push({ formula, name, isNamed, isDescending });
    } while (this.#takeSign(','));
    if (this.#now.kind !== 'end') this.#fail('an operator, a comma or the end');
    return found;
  }

  #or(): Formula {
    let left = this.#and();
    while (this.#takeWord('or') || this.#takeSign('||')) left = call('or', left, this.#and());
    return left;
  }

  #and(): Formula {
    let left = this.#not();
    while (this.#takeWord('and') || this.#takeSign('&&')) left = call('and', left, this.#not());
    return left;
  }

  #not(): Formula {
    return this.#takeWord('not')
      ? call(
          'not',
          this.#deeper(() => this.#not()),
        )
      : this.#comparison();
  }

  #comparison(): Formula {
    const left = this.#sum();
    const sign = this.#takeSign('=', '==', '!=', '<>', '<', '<=', '>', '>=');
    if (sign !== undefined) {
      const right = this.#sum();
      return call(sign === '==' ? '=' : sign === '<>' ? '!=' : sign, left, right);
    }
    if (this.#takeWord('is')) {
      const isNot = this.#takeWord('not');
      if (!this.#takeWord('null', 'empty', 'blank', 'missing')) this.#fail('null behind is');
      return isNot ? call('not', call('is_empty', left)) : call('is_empty', left);
    }
    const isNot = this.#takeWord('not');
    const test = this.#test(left);
    if (test === undefined) {
      if (isNot) this.#fail('in, contains or between behind not');
      return left;
    }
    return isNot ? call('not', test) : test;
  }

  #test(left: Formula): Formula | undefined {
    if (this.#takeWord('contains')) return call('contains', left, this.#sum());
    if (this.#takeWord('like')) return call('like', left, this.#sum());
    if (this.#takeWord('between')) {
      const low = this.#sum();
      if (!this.#takeWord('and')) this.#fail('and between the two bounds');
      return call('and', call('>=', left, low), call('<=', left, this.#sum()));
    }
    if (!this.#takeWord('in')) return undefined;
    const members = this.#list();
    const tests = members.map((member) => call('=', left, member));
    return tests.reduce((all, one) => call('or', all, one), constant(truthValue(false)));
  }

  #sum(): Formula {
    let left = this.#product();
    for (;;) {
      const sign = this.#takeSign('+', '-');
      if (sign === undefined) return left;
      left = call(sign, left, this.#product());
    }
  }

  #product(): Formula {
    let left = this.#power();
    for (;;) {
      const sign = this.#takeSign('*', '/', '%');
      if (sign === undefined) return left;
      left = call(sign, left, this.#power());
    }
  }

  #power(): Formula {
    const left = this.#unary();
    return this.#takeSign('^') === undefined
      ? left
      : call(
          '^',
          left,
          this.#deeper(() => this.#power()),
        );
  }

  #unary(): Formula {
    if (this.#takeSign('-') !== undefined)
      return call(
        'negative',
        this.#deeper(() => this.#unary()),
      );
    if (this.#takeSign('+') !== undefined) return this.#deeper(() => this.#unary());
    return this.#deeper(() => this.#primary());
  }

  #primary(): Formula {
    const token = this.#take();
    switch (token.kind) {
      case 'number':
        return constant(numberValue(Number(token.text.replaceAll('_', ''))));
      case 'text':
        return constant(textValue(token.text));
      case 'date': {
        const reading = dateOf(token.text);
        return constant((reading && instantOf(reading)) ?? textValue(token.text));
      }
      case 'column':
        return { is: 'column', name: token.text };
      case 'quoted':
        return constant(textValue(token.text));
      case 'sign':
        if (token.text !== '(') break;
        return this.#closed(this.#or());
      case 'word': {
        const name = token.text.toLowerCase();
        if (this.#now.kind === 'sign' && this.#now.text === '(') return this.#call(name);
        if (name === 'true' || name === 'false') return constant(truthValue(name === 'true'));
        if (name === 'null') return constant(EMPTY);
        break;
      }
      case 'end':
        break;
    }
    this.#at--;
    return this.#fail('a column, a number or a text in single quotes');
  }

  /** `count(distinct x)` is SQL's way to say `count_distinct(x)`. */
  #call(name: string): Formula {
    const isDistinct = name === 'count' && this.#next.kind === 'word' && /^distinct$/i.test(this.#next.text);
    if (!isDistinct) return call(name, ...this.#list());
    this.#at += 2;
    return call('count_distinct', this.#closed(this.#or()));
  }

  #list(): Formula[] {
    if (this.#takeSign('(') === undefined) this.#fail('a list in brackets');
    const found: Formula[] = [];
    if (this.#takeSign(')') !== undefined) return found;
    // `count(*)` counts rows, as in SQL.
    if (this.#now.text === '*' && this.#next.text === ')') {
      this.#at += 2;
      return found;
    }
    do found.push(this.#or());
    while (this.#takeSign(',') !== undefined);
    return this.#closed(found);
  }

  #closed<Inside>(inside: Inside): Inside {
    if (this.#takeSign(')') === undefined) this.#fail('a closing bracket');
    return inside;
  }

  #deeper<Result>(parse: () => Result): Result {
    this.#depth++;
    if (this.#depth > MAX_DEPTH) throw new MeshError('tool', `a formula is nested at most ${MAX_DEPTH} deep`);
    const result = parse();
    this.#depth--;
    return result;
  }

  get #now(): Token {
    return this.#tokens[this.#at] ?? END;
  }

  get #next(): Token {
    return this.#tokens[this.#at + 1] ?? END;
  }

  get #before(): Token {
    return this.#tokens[this.#at - 1] ?? END;
  }

  #take(): Token {
    const token = this.#now;
    this.#at++;
    return token;
  }

  #takeSign(...signs: readonly string[]): string | undefined {
    const { kind, text } = this.#now;
    if (kind !== 'sign' || !signs.includes(text)) return undefined;
    this.#at++;
    return text;
  }

  #takeWord(...words: readonly string[]): boolean {
    const { kind, text } = this.#now;
    if (kind !== 'word' || !words.includes(text.toLowerCase())) return false;
    this.#at++;
    return true;
  }

  #fail(expected: string): never {
    const { kind, text, from } = this.#now;
    const came = kind === 'end' ? 'its end' : JSON.stringify(text);
    const columns = kind === 'word' ? `; ${noColumn(this.#frame, text)}` : '';
    throw new MeshError(
      'tool',
      `formula ${JSON.stringify(this.#text.slice(0, 200))}: expected ${expected}, and at character ${from + 1} came ${came}${columns}`,
    );
  }
}

const constant = (value: Value): Formula => ({ is: 'constant', value });
const call = (name: string, ...of: readonly Formula[]): Formula => ({ is: 'call', name, of });
