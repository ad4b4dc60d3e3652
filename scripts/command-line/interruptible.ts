import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { printError } from '@gaia-mesh/evaluation/terminal/print.ts';
import { EXIT } from './exit-code.ts';

/** One Ctrl-C may arrive twice within this time: from the terminal, and from npm or the entry, which pass it on. */
const SAME_SIGNAL_MS = 250;

/**
 * Aborts when the user presses Ctrl-C or closes the terminal, so that `what` ends in order: agents stop and partial
 * results are written. A second Ctrl-C ends the process at once.
 */
export function handleInterrupt(what = 'the run'): AbortController {
  const controller = new AbortController();
  let abortedMs = 0;
  const onSignal = () => {
    if (controller.signal.aborted) {
      if (performance.now() - abortedMs > SAME_SIGNAL_MS) process.exit(EXIT.interrupted);
      return;
    }
    abortedMs = performance.now();
    // The terminal has printed `^C` without a line end.
    printError('');
    printError(`ending ${what}; once more to end at once`);
    controller.abort(new MeshError('interrupted', 'interrupted'));
  };
  // SIGHUP comes when a terminal or a connection to another machine is closed.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, onSignal);
  return controller;
}
