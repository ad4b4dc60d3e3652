import { formatWarning, type RunWarning } from '@gaia-mesh/core/contracts/warning.ts';
import { printError } from '@gaia-mesh/evaluation/terminal/print.ts';
import { toOneLine } from '@gaia-mesh/evaluation/terminal/table.ts';

const MAX_LINE_CHARACTERS = 600;

/** Prints the warnings of a run, one a line; `team` is set if the run has several teams. */
export function printWarnings(warnings: readonly RunWarning[], team?: string): void {
  const of = team === undefined ? '' : `team ${team}: `;
  for (const warning of warnings)
    printError(`Warning: ${of}${toOneLine(formatWarning(warning), MAX_LINE_CHARACTERS)}`);
}

/** Formats the last line of a run that was answered, which also names losses and a missing export. */
export function formatDone(files: string, warnings: readonly RunWarning[], isExported = true): string {
  const missed = isExported ? '' : ', not exported';
  if (warnings.length === 0) return `${isExported ? '✅' : '⚠️'} DONE${missed} → See ${files}`;
  const sums = new Map<RunWarning['lost'], number>();
  for (const { lost, times } of warnings) sums.set(lost, (sums.get(lost) ?? 0) + times);
  const losses = [...sums].map(([lost, sum]) => {
    const several = lost === 'reply' ? 'replies' : `${lost}s`;
    return `${sum} ${sum === 1 ? lost : several}`;
  });
  return `⚠️ DONE with warnings: lost ${losses.join(', ')}${missed} → See ${files}`;
}
