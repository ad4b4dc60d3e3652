import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { printError } from '@gaia-mesh/evaluation/terminal/print.ts';
import { EXIT } from './exit-code.ts';

/** Two signals within this time are one Ctrl-C: the terminal sends it, and npm or the entry passes it on again. */
const SAME_SIGNAL_MS = 250;

let isEnding = false;

/** Returns true after the first Ctrl-C: a server, agent or model that then gives no answer is no fault. */
export const isInterrupted = (): boolean => isEnding;

/**
 * Aborts when the user presses Ctrl-C or closes the terminal, so that `what` can stop its agents and write partial
 * results. A second Ctrl-C calls `onSecond`, which by default ends the process at once; a third one always ends it.
 */
export function handleInterrupt(
  what = 'the run',
  onSecond: () => void = () => process.exit(EXIT.interrupted),
): AbortController {
  isEnding = false;
  const controller = new AbortController();
  let lastMs = Number.NEGATIVE_INFINITY;
  let signals = 0;
  const onSignal = () => {
    if (performance.now() - lastMs < SAME_SIGNAL_MS) return;
    lastMs = performance.now();
    signals += 1;
    if (signals > 2) process.exit(EXIT.interrupted);
    if (signals === 2) {
      onSecond();
      return;
    }
    isEnding = true;
    // The terminal has printed `^C` without a line end.
    printError('');
    printError(`ending ${what}; once more to end at once`);
    controller.abort(new MeshError('interrupted', 'interrupted'));
  };
  // SIGHUP comes when a terminal or a connection to another machine is closed.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, onSignal);
  return controller;
}
