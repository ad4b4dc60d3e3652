import { normalizeNotation } from './notation.ts';

type Library = typeof import('mathjs');
type Evaluator = ReturnType<Library['create']>;

/**
 * The result of a calculation, as text and for programs. `value` is a text when no double equals the printed number.
 */
interface Evaluated {
  readonly text: string;
  readonly value: number | string;
  readonly unit?: string;
}

/** Maximum elements of `1:n`. A list of a hundred million ends the process before any time limit does. */
const MAX_RANGE_ELEMENTS = 10_000;
/** Digits of the arithmetic, far more than are printed, so that rounding does not show. */
const PRECISION = 64;
/** Digits of the second evaluation of results that may be mere rounding. */
const HIGHER_PRECISION = 84;
const PRINTED_DIGITS = 15;
/** Maximum length of a printed list; people do not read longer ones. */
const MAX_LIST_CHARACTERS = 10_000;
/** Largest magnitude; beyond it a double overflows, as numbers of other programs do. */
const LARGEST = 1.797e308;
/**
 * Bounds beyond which a result is evaluated again: sin(pi) and tan(pi/2) differ from 0 and from infinity only by
 * rounding.
 */
const SUSPICIOUSLY_SMALL = 1e-30;
const SUSPICIOUSLY_LARGE = 1e30;

/** Allowed functions. `range` is missing: it builds lists of any length, and its notation `1:n` shows the length. */
const FUNCTIONS = new Set(
  (
    'abs cbrt ceil cube exp expm1 fix floor gcd hypot lcm ln log log10 log1p log2 mod nthRoot pow round sign sqrt square xgcd invmod ' +
    'add subtract multiply divide unaryMinus unaryPlus to ' +
    'sin cos tan sec csc cot asin acos atan atan2 asec acsc acot sinh cosh tanh sech csch coth asinh acosh atanh ' +
    'factorial combinations permutations gamma lgamma erf isPrime ' +
    'max min mean median mode sum prod std variance mad quantileSeq count ' +
    'det inv transpose dot cross norm trace re im conj arg bitAnd bitOr bitXor bitNot'
  ).split(' '),
);
const NODES = new Set([
  'ConstantNode',
  'OperatorNode',
  'FunctionNode',
  'SymbolNode',
  'ParenthesisNode',
  'ArrayNode',
  'RangeNode',
  'ConditionalNode',
  'RelationalNode',
]);

/**
 * Returns the evaluator of calculations. It runs only the library's own functions on this list; it allows no assignments, no access
 * to properties and no texts.
 *
 * It bounds what it can see (ranges, kinds of expressions), but neither memory nor time: run it in a process of its
 * own. It throws an Error with the fault of an expression or its result.
 */
export function createCalculator(library: Library): (expression: string) => Evaluated {
  const evaluators = new Evaluators(library);
  return (expression) => evaluateExpression(evaluators, expression);
}

function evaluateExpression(evaluators: Evaluators, expression: string): Evaluated {
  const plain = normalizeNotation(expression);
  if (plain === '')
    throw new Error('there is nothing to calculate: give an expression such as 3 * (4 + 5) or 3 miles to km');
  const inNumbers = (math: Evaluator) => formatResult(evaluators, math, evaluateTree(math, plain), plain);
  try {
    try {
      return inNumbers(evaluators.withDigits(PRECISION));
    } catch (error) {
      // Some functions, such as gamma and erf, support only doubles.
      if (!(error instanceof Error) || !/BigNumber/.test(error.message)) throw error;
      return inNumbers(evaluators.withDoubles());
    }
  } catch (error) {
    throw explainError(error);
  }
}

/** Replaces those of the library's messages that do not explain the fault. */
function explainError(error: unknown): Error {
  const message = error instanceof Error ? error.message : String(error);
  const unknown = /^Undefined symbol (\S+)$/.exec(message)?.[1];
  if (unknown !== undefined)
    return new Error(`${unknown} is not a number, constant or unit that the calculator knows`, {
      cause: error,
    });
  if (message.startsWith('Units do not match')) return new Error(`wrong unit: ${message}`, { cause: error });
  return new Error(message, { cause: error });
}

function evaluateTree(math: Evaluator, plain: string): unknown {
  const tree = math.parse(plain);
  tree.traverse((node) => {
    if (!NODES.has(node.type)) throw new Error(explainRefusal(node.type));
    if (math.isConstantNode(node) && typeof node.value === 'string') throw new Error(explainRefusal('text'));
    if (math.isFunctionNode(node)) {
      const name = math.isSymbolNode(node.fn) ? node.fn.name : undefined;
      if (name === undefined || !FUNCTIONS.has(name)) {
        throw new Error(
          `${name ?? node.fn.toString()} is not a function of this calculator: it has sqrt, log, sin, mean, round and others`,
        );
      }
    }
    if (math.isRangeNode(node)) checkRange(node);
  });
  return tree.evaluate();
}

function explainRefusal(kind: string): string {
  switch (kind) {
    case 'AssignmentNode':
    case 'FunctionAssignmentNode':
      return 'nothing can be assigned: write the value where it is used';
    case 'BlockNode':
      return 'give one expression, without ; or line breaks';
    case 'AccessorNode':
    case 'IndexNode':
      return 'properties and elements cannot be read: give a calculation';
    default:
      return 'texts and objects cannot be calculated with: give numbers, units and operators';
  }
}

function checkRange(node: import('mathjs').RangeNode): void {
  const ends = [node.start, node.end, node.step ?? undefined].map((end) =>
    end === undefined ? 1 : Number(end.toString().replaceAll(/[\s()]/g, '')),
  );
  const [start = Number.NaN, end = Number.NaN, step = 1] = ends;
  const elements = Math.abs((end - start) / step) + 1;
  if (!(elements <= MAX_RANGE_ELEMENTS)) {
    throw new Error(
      `a range is written with plain numbers and has at most ${MAX_RANGE_ELEMENTS} elements: ${node.toString()} is not one`,
    );
  }
}

function formatResult(evaluators: Evaluators, math: Evaluator, found: unknown, plain: string): Evaluated {
  const render = (value: unknown) => formatNumber(evaluators, math, value, plain);
  if (typeof found === 'boolean') return { text: String(found), value: String(found) };
  if (typeof found === 'number' || math.isBigNumber(found))
    return { text: render(found), value: asValue(render(found)) };
  if (math.isUnit(found)) {
    const text = math.format(found, render).replaceAll(' / ', '/');
    const [, number, unit] = /^(-?[\d.]+(?:e[+-]?\d+)?) (.+)$/.exec(text) ?? [];
    if (number === undefined || unit === undefined)
      throw new Error('a unit alone is not a quantity: write a number before it, as in 3 miles to km');
    return { text, value: asValue(number), unit };
  }
  if (math.isComplex(found)) {
    checkFinite(found.re, found.im);
    const text = math.format(found, { precision: PRINTED_DIGITS - 1 });
    return { text, value: asValue(text) };
  }
  if (math.isMatrix(found) || Array.isArray(found)) {
    const text = math.format(found, render);
    if (text.length > MAX_LIST_CHARACTERS) {
      throw new Error(
        `the result is a list of ${text.length} characters: calculate what you need from it, such as its sum or mean`,
      );
    }
    return { text, value: text };
  }
  throw new Error('the result is not a number: give a calculation, such as cos(1) instead of cos');
}

/** Writes a number without the noise of its arithmetic: `0.3`, not `0.30000000000000004`. */
function formatNumber(evaluators: Evaluators, math: Evaluator, value: unknown, plain: string): string {
  if (typeof value === 'number') {
    checkFinite(value);
    return trimNumber(value.toPrecision(PRINTED_DIGITS).replace('e+', 'e'));
  }
  if (!math.isBigNumber(value)) return math.format(value, { precision: PRINTED_DIGITS });
  checkFinite(value.toNumber());
  const settled = settleValue(evaluators, math, value, plain);
  if (settled.isInteger() && settled.abs().lt(`1e${PRECISION}`)) return settled.toFixed();
  const isWritable = settled.e > -8 && settled.e < 21;
  // Large numbers keep some decimals.
  const rounded = settled.toSignificantDigits(
    isWritable ? Math.max(PRINTED_DIGITS, settled.e + 6) : PRINTED_DIGITS,
  );
  return isWritable ? rounded.toFixed() : rounded.toExponential().replace('e+', 'e');
}

/** Evaluates again with more digits: a value that stays the same is a result, and one that changes is rounding. */
function settleValue(
  evaluators: Evaluators,
  math: Evaluator,
  value: import('mathjs').BigNumber,
  plain: string,
): import('mathjs').BigNumber {
  const size = value.abs();
  const isLarge = size.gt(SUSPICIOUSLY_LARGE) && !value.isInteger();
  if (value.isZero() || !(size.lt(SUSPICIOUSLY_SMALL) || isLarge)) return value;
  const again = evaluateTree(evaluators.withDigits(HIGHER_PRECISION), plain);
  const isTheSame = math.isBigNumber(again) && again.div(value.toString()).minus(1).abs().lt(1e-6);
  if (isTheSame || !math.isBigNumber(again)) return value;
  if (isLarge) throw new Error(`the result is not defined: it grows without bound (${plain})`);
  return value.times(0);
}

function checkFinite(...parts: readonly number[]): void {
  if (parts.some(Number.isNaN))
    throw new Error('the result is not defined, as is 0/0, or the root or logarithm of what has none');
  if (parts.some((part) => Math.abs(part) > LARGEST)) {
    throw new Error(
      'the result is infinite or too large (overflow, beyond 1.797e308): look for a division by zero or a huge exponent',
    );
  }
}

function trimNumber(text: string): string {
  const [mantissa = '', exponent] = text.split('e');
  const short = mantissa.includes('.') ? mantissa.replace(/\.?0+$/, '') : mantissa;
  return exponent === undefined ? short : `${short}e${exponent}`;
}

/** Returns a number when it equals the printed text exactly, otherwise the text. */
function asValue(text: string): number | string {
  const number = Number(text);
  // A value too small for a double would become 0.
  if (number === 0 || Number.isNaN(number)) return text === '0' ? 0 : text;
  return Number.isInteger(number) && !Number.isSafeInteger(number) ? text : number;
}

/** Functions that could read, define or run something (the library's own documentation lists them for this purpose). */
const DANGEROUS = 'import createUnit evaluate parse simplify derivative resolve reviver compile parser'.split(
  ' ',
);

/**
 * Units beside the library's own. Units of speed are in notation.ts instead: the library would print every m/s as one
 * of them.
 */
const UNITS: Readonly<Record<string, { definition: string; aliases?: string[]; prefixes?: 'short' }>> = {
  nauticalmile: { definition: '1852 m', aliases: ['nauticalmiles', 'nmi'] },
  lightyear: { definition: '9460730472580800 m', aliases: ['lightyears', 'ly'] },
  au: { definition: '149597870700 m', aliases: ['AU'] },
  cal: { definition: '4.184 J', prefixes: 'short' },
  calorie: { definition: '4.184 J', aliases: ['calories'] },
};

/**
 * The library, restricted to calculations: once with many digits and once with doubles, each created at its first use.
 */
class Evaluators {
  readonly #library: Library;
  readonly #made = new Map<string, Evaluator>();

  constructor(library: Library) {
    this.#library = library;
  }

  withDigits(precision: number): Evaluator {
    return this.#evaluator(String(precision), { number: 'BigNumber', precision });
  }

  withDoubles(): Evaluator {
    return this.#evaluator('doubles', { number: 'number' });
  }

  #evaluator(
    key: string,
    numbers: { number: 'BigNumber'; precision: number } | { number: 'number' },
  ): Evaluator {
    const known = this.#made.get(key);
    if (known !== undefined) return known;
    const math = this.#library.create(this.#library.all ?? {});
    math.config(numbers);
    for (const [name, unit] of Object.entries(UNITS)) math.createUnit(name, unit);
    // Keeps the original parser for evaluation; expressions that call a dangerous function by its name are refused.
    const { parse } = math;
    const refused = DANGEROUS.map((name) => [name, () => refuse(name)]);
    math.import({ ln: math.log, ...Object.fromEntries(refused) }, { override: true });
    const evaluator = { ...math, parse };
    this.#made.set(key, evaluator);
    return evaluator;
  }
}

function refuse(name: string): never {
  throw new Error(`${name} is not a function of a calculator`);
}
