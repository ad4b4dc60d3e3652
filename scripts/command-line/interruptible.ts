import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { printError } from '@gaia-mesh/evaluation/terminal/print.ts';
import { EXIT } from './exit-code.ts';

/** One Ctrl-C may arrive twice within this time: from the terminal, and from npm or the entry, which pass it on. */
const SAME_SIGNAL_MS = 250;

let isEnding = false;

/** Returns true after the first Ctrl-C: a server, agent or model that then gives no answer is no fault. */
export const isInterrupted = (): boolean => isEnding;

/**
 * Aborts when the user presses Ctrl-C or closes the terminal, so that `what` ends in order: agents stop and partial
 * results are written. A second Ctrl-C calls `onSecond`, which ends the process at once unless another one is given; a third always does.
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
