import { createRequire } from 'node:module';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { JOB_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { defineJob, runJob } from '@gaia-mesh/core/system/process/jobs.ts';
import * as z from 'zod';
import type { DataTool } from '../../data-tool.ts';

/** Maximum length of an expression, far above any written by hand; the parser recurses once per parenthesis. */
const MAX_EXPRESSION_CHARACTERS = 2_000;

const input = z.strictObject({
  expression: z
    .string()
    .max(MAX_EXPRESSION_CHARACTERS)
    .describe('e.g. sqrt(2) * 2^10, mean(3, 5), sin(30 deg), 3 miles to km'),
});

/** The library's build for browsers: one file instead of a thousand, which loads in a tenth of the time. */
const LIBRARY = 'mathjs/lib/browser/math.js';

// Some expressions use up the memory of the process that evaluates them (`1:1e8` even that of a thread's parent).
const calculate = defineJob(new URL('./calculator.ts', import.meta.url), 'calculate', async () => {
  const { createCalculator } = await import('./evaluate-expression.ts');
  const evaluate = createCalculator(createRequire(import.meta.url)(LIBRARY));
  // The library makes units and functions at their first use, so that the first calculation would wait for them.
  evaluate('sqrt(2) * 3 miles to km');
  return (expression: string) => {
    try {
      return evaluate(expression);
    } catch (error) {
      throw new MeshError('tool', toErrorMessage(error), { cause: error });
    }
  };
});

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
    const outcome = await runJob(calculate, expression, JOB_LIMITS.calculation, { signal });
    if ('stopped' in outcome)
      throw new MeshError('tool', `it was stopped, since ${outcome.stopped}: calculate something smaller`);
    const { text, ...data } = outcome.answer;
    return { text, data };
  },
};
