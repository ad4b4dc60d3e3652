import type { Reading } from '../solution.ts';
import { arithmeticTokens, type Token } from './arithmetic-words.ts';

/** Nobody writes a sum of more parts into a question; it bounds the recursion. */
const MAX_TOKENS = 200;

/**
 * A calculation that the question spells out, in signs, in words or in both: `(3 + 4) × 2`, `the square root of 81 plus 5`, `take
 * 12, double it, then subtract 3`. All of the question's numbers have to be part of it: where one is left over, something was
 * not understood.
 *
 * @param text the question with its numbers in figures
 */
export function readArithmetic(text: string): Reading | undefined {
  const tokens = arithmeticTokens(text);
  if (tokens.length > MAX_TOKENS) return undefined;
  let expression: string | undefined;
  let at = 0;
  while (at < tokens.length) {
    const token = tokens[at];
    if (token === undefined) break;
    if (
      !startsTerm(token) &&
      !(expression !== undefined && (token.is === 'step' || token.is === 'own-step'))
    ) {
      // An operator with nothing on its left goes on from what was calculated so far: "…, minus 4".
      if (expression === undefined || token.is !== 'sign' || !/^[-+*/]$/.test(token.text)) {
        at++;
        continue;
      }
    }
    const parser = new Parser(tokens, at, expression);
    const parsed = parser.sequence();
    if (parsed === undefined || parser.at === at) {
      if (token.is === 'number') return undefined;
      at++;
      continue;
    }
    expression = parsed;
    at = parser.at;
  }
  if (expression === undefined || !/[-+*/^!]|mod|[a-z]+\(/.test(expression)) return undefined;
  const round = /\bremainder\b/i.test(text) ? withRemainder(expression) : expression;
  return round === undefined
    ? undefined
    : { why: 'The question spells the calculation out.', expression: round };
}

/** "the remainder when A is divided by B": the division that is spelled out is meant as `mod`. */
function withRemainder(expression: string): string | undefined {
  const at = expression.lastIndexOf(' / ');
  return at < 0 ? undefined : `${expression.slice(0, at)} mod ${expression.slice(at + 3)}`;
}

function startsTerm(token: Token): boolean {
  return (
    token.is === 'number' ||
    token.is === 'function' ||
    token.is === 'list' ||
    token.is === 'step' ||
    (token.is === 'sign' && token.text === '(')
  );
}

/** Recursive descent; `at` is the first token that was not read. A method that cannot read leaves undefined. */
class Parser {
  at: number;
  readonly #tokens: readonly Token[];
  /** What came out before, in brackets; steps work on it. */
  #value: string | undefined;

  constructor(tokens: readonly Token[], at: number, value: string | undefined) {
    this.#tokens = tokens;
    this.at = at;
    this.#value = value;
  }

  /** A calculation and the steps after it: "…, then add 3, then double it". */
  sequence(): string | undefined {
    const token = this.#peek();
    const goesOn = this.#value !== undefined && token?.is === 'sign' && token.text !== '(';
    if (this.#value === undefined || (!goesOn && token?.is !== 'step' && token?.is !== 'own-step')) {
      // A second calculation that does not go on from the first: not understood.
      if (this.#value !== undefined) return undefined;
      this.#value = this.#sum();
    }
    if (goesOn) this.#value = this.#rest(this.#value ?? '');
    while (this.#value !== undefined && this.#step());
    return this.#value;
  }

  #step(): boolean {
    const start = this.at;
    while (this.#sign(',') || this.#sign('and'));
    const token = this.#peek();
    if (token?.is === 'own-step') {
      this.at++;
      this.#value = `${token.before}${this.#value}${token.after}`;
      return true;
    }
    if (token?.is === 'step') {
      this.at++;
      this.#sign('by');
      const operand = this.#sum();
      if (operand !== undefined) {
        this.#value = `(${this.#value}) ${token.sign} (${operand})`;
        // "subtract 5 from it": the filler is gone, its preposition is not.
        if (!this.#sign('from')) this.#sign('to');
        return true;
      }
    }
    this.at = start;
    return false;
  }

  #sum(): string | undefined {
    const first = this.#product();
    return first === undefined ? undefined : this.#rest(first);
  }

  #rest(first: string): string {
    let value = first;
    for (;;) {
      const start = this.at;
      const token = this.#peek();
      if (token?.is !== 'sign') return value;
      this.at++;
      const right = /^(?:[-+]|swap[-+])$/.test(token.text) ? this.#product() : undefined;
      const factor = right === undefined && /^(?:[*/]| mod )$/.test(token.text) ? this.#power() : undefined;
      if (right !== undefined) {
        value = token.text.startsWith('swap')
          ? `${right} ${token.text.slice(4)} (${value})`
          : `${value} ${token.text} ${right}`;
      } else if (factor !== undefined) {
        value = `(${value}) ${token.text.trim()} ${factor}`;
      } else {
        this.at = start;
        return value;
      }
    }
  }

  #product(): string | undefined {
    let value = this.#power();
    while (value !== undefined) {
      const start = this.at;
      const token = this.#peek();
      if (token?.is !== 'sign' || !/^(?:[*/]| mod )$/.test(token.text)) return value;
      this.at++;
      const right = this.#power();
      if (right === undefined) {
        this.at = start;
        return value;
      }
      value = `${value} ${token.text.trim()} ${right}`;
    }
    return value;
  }

  #power(): string | undefined {
    const base = this.#suffixed();
    if (base === undefined || !this.#sign('^')) return base;
    const exponent = this.#power();
    return exponent === undefined ? undefined : `${base}^${exponent}`;
  }

  #suffixed(): string | undefined {
    let value = this.#term();
    for (;;) {
      const token = this.#peek();
      if (value === undefined || token?.is !== 'suffix') return value;
      this.at++;
      if (token.after.endsWith('*')) {
        const whole: string | undefined = this.#suffixed();
        if (whole === undefined) return undefined;
        value = `(${value}${token.after} ${whole})`;
      } else {
        value = `${value}${token.after}`;
      }
    }
  }

  #term(): string | undefined {
    const token = this.#peek();
    if (token === undefined) return undefined;
    this.at++;
    switch (token.is) {
      case 'number':
        return token.text;
      case 'function': {
        const argument = token.before === '(' ? this.#sum() : this.#suffixed();
        return argument === undefined ? undefined : `${token.before}${argument}${token.after}`;
      }
      case 'list':
        return this.#list(token.join, token.around);
      case 'step':
        return this.#imperative(token.sign, token.preposition);
      case 'sign': {
        if (token.text === '-') {
          const negative = this.#term();
          return negative === undefined ? undefined : `(-${negative})`;
        }
        if (token.text !== '(') return undefined;
        const inner = this.#sum();
        return inner !== undefined && this.#sign(')') ? `(${inner})` : undefined;
      }
      default:
        return undefined;
    }
  }

  /** "subtract 5 from 12", "multiply 3 by 4": a step with both of its operands. */
  #imperative(sign: string, preposition: string): string | undefined {
    const left = this.#sum();
    if (left === undefined) return undefined;
    const led =
      preposition === 'by'
        ? this.#sign('by')
        : preposition === 'from'
          ? this.#sign('from')
          : this.#sign('to');
    if (!led && !this.#sign('and') && !this.#sign('by')) return undefined;
    const right = this.#sum();
    if (right === undefined) return undefined;
    return sign === '-' ? `(${right} - ${left})` : `(${left} ${sign} ${right})`;
  }

  #list(join: string, around: string): string | undefined {
    const parts: string[] = [];
    do {
      const part = this.#part();
      if (part === undefined) return parts.length > 1 ? `${around}(${parts.join(join)})` : undefined;
      parts.push(part);
    } while (this.#separator());
    return parts.length < 2 ? undefined : `${around}(${parts.join(join)})`;
  }

  /** "the product of 3 and 4, plus 2": what follows the last part is done with the whole list. */
  #part(): string | undefined {
    const start = this.at;
    const whole = this.#sum();
    const end = this.at;
    const isLast = !this.#separator();
    this.at = isLast ? start : end;
    return isLast ? this.#power() : whole;
  }

  /** A comma or "and" that another part follows; else it belongs to the sentence. */
  #separator(): boolean {
    const start = this.at;
    while (this.#sign(',') || this.#sign('and'));
    const token = this.#peek();
    const goesOn = this.at > start && token !== undefined && startsTerm(token) && token.is !== 'step';
    if (!goesOn) this.at = start;
    return goesOn;
  }

  #peek(): Token | undefined {
    return this.#tokens[this.at];
  }

  #sign(text: string): boolean {
    const token = this.#peek();
    if (token?.is !== 'sign' || token.text !== text) return false;
    this.at++;
    return true;
  }
}
