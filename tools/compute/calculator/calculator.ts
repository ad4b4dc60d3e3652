import * as z from 'zod';
import type { DataTool } from '../../data-tool.ts';
import { CalculatorProcess } from './calculator-process.ts';

/** Maximum length of an expression, far above any written by hand; the parser recurses once per parenthesis. */
const MAX_EXPRESSION_CHARACTERS = 2_000;

const input = z.strictObject({
  expression: z
    .string()
    .max(MAX_EXPRESSION_CHARACTERS)
    .describe('e.g. sqrt(2) * 2^10, mean(3, 5), sin(30 deg), 3 miles to km'),
});

// One process for all calls of the agent.
const calculators = new CalculatorProcess();

/**
 * Calculates with 64 digits; prints integers whole and other results with 15 digits. Angles are radians unless `deg` is
 * written, `log(x)` is the natural logarithm, `10 + 5%` is 10.5, and a comma groups thousands except in a function's
 * arguments (see notation.ts).
 */
export const calculator: DataTool<z.infer<typeof input>> = {
  name: 'calculator',
  description: 'Calculates, also statistics, matrices, units. log is natural; angles are radians.',
  input,
  async run({ expression }, { signal }) {
    const { text, ...data } = await calculators.evaluate(expression, signal);
    return { text, data };
  },
};
