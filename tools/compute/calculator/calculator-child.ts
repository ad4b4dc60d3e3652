// The process that calculates, see calculator-process.ts: one expression a message, one answer to each. Argument: the library's file.
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

// Started as a script, since that is what has a time limit: the process ends its own endless loops, even where its parent was killed.
const [libraryFile = ''] = process.argv.slice(2);
const evaluators = new Evaluators(libraryFile);
// What the first calculation would otherwise wait for: units and functions are made when they are first used.
evaluateExpression(evaluators, 'sqrt(2) * 3 miles to km');
const calculation = new vm.Script('calculate()');

process.on('message', ({ expression, timeoutMs }: Question) => {
  process.send?.(calculateAnswer(expression, timeoutMs));
});
// Nobody is left to calculate for.
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
