import * as z from 'zod';
import type { DataTool } from '../../data-tool.ts';
import { CalculatorProcess } from './calculator-process.ts';

/** Far above any calculation that is written by hand; the parser goes down one level a parenthesis. */
const MAX_EXPRESSION_CHARACTERS = 2_000;

const input = z.strictObject({
  expression: z
    .string()
    .max(MAX_EXPRESSION_CHARACTERS)
    .describe(
      'The calculation, for example (17.5 + 3) * 2^10, sqrt(2), 15% of 80, mean(3, 5, 10), sin(30 deg), 3 miles to km',
    ),
});

// One process for all calls of the agent.
const calculators = new CalculatorProcess();

/**
 * Calculates with 64 digits; prints integers whole and other results with 15 digits. Angles are radians unless `deg` is written, `log(x)` is the natural logarithm, `10 + 5%` is 10.5, and a
 * comma groups thousands but in a function's arguments (see notation.ts).
 */
export const calculator: DataTool<z.infer<typeof input>> = {
  name: 'calculator',
  description:
    'Calculates: + - * / ^ %, roots, log(x) (natural), log10, log(x, base), trigonometry (radians, or sin(30 deg)), factorials, ' +
    'statistics (mean, median, std), matrices, complex numbers, and units (3 miles to km, 100 degF to degC). Gives the result alone.',
  input,
  async run({ expression }, { signal }) {
    const { text, value, unit } = await calculators.evaluate(expression, signal);
    return { text, data: { value, ...(unit === undefined ? {} : { unit }) } };
  },
};
