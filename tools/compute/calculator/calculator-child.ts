// The process that calculates, see calculator-process.ts: it answers each message, which holds one expression.
// Argument: the library's file.
import vm from 'node:vm';
import { type Evaluated, evaluateExpression } from './evaluate-expression.ts';
import { Evaluators } from './evaluators.ts';

declare global {
  var calculate: () => void;
}

interface Question {
  readonly expression: string;
  readonly timeoutMs: number;
}

// The calculation is a script because scripts have a time limit: the process ends its own endless loops, even after its
// parent was killed.
const [libraryFile = ''] = process.argv.slice(2);
const evaluators = new Evaluators(libraryFile);
// Creates units and functions, which are made at their first use, so that the first calculation does not wait for them.
evaluateExpression(evaluators, 'sqrt(2) * 3 miles to km');
const calculation = new vm.Script('calculate()');

process.on('message', ({ expression, timeoutMs }: Question) => {
  process.send?.(calculateAnswer(expression, timeoutMs));
});
// The parent is gone.
process.on('disconnect', () => process.exit());

function calculateAnswer(
  expression: string,
  timeoutMs: number,
): { result: Evaluated } | { fault: string } | { late: true } {
  let result: Evaluated | undefined;
  globalThis.calculate = () => {
    result = evaluateExpression(evaluators, expression);
  };
  try {
    calculation.runInThisContext({ timeout: timeoutMs });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT')
      return { late: true };
    return { fault: error instanceof Error ? error.message : String(error) };
  }
  return result === undefined ? { fault: 'nothing was calculated' } : { result };
}
