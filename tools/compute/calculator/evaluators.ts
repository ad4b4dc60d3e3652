type Library = typeof import('mathjs');
export type Evaluator = ReturnType<Library['create']>;

/** Functions that could read, define or run something (the library's own documentation lists them for this purpose). */
const DANGEROUS = 'import createUnit evaluate parse simplify derivative resolve reviver compile parser'.split(
  ' ',
);

/**
 * Units beside the library's own. Units of speed are in evaluate-expression.ts instead: the library would print every m/s as one
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
export class Evaluators {
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
