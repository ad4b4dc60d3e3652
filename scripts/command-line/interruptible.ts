import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { printError } from '@gaia-mesh/evaluation/terminal/print.ts';
import { INTERRUPTED_EXIT } from './exit-code.ts';

/** One Ctrl-C may come twice, from the terminal and from npm or the entry, which pass it on. */
const SAME_SIGNAL_MS = 250;

/** Ctrl-C, or the end of the terminal, ends `what` in order: agents stop, what there is gets written. A second one ends it at once. */
export function handleInterrupt(what = 'the run'): AbortController {
  const controller = new AbortController();
  let abortedMs = 0;
  const onSignal = () => {
    if (controller.signal.aborted) {
      if (performance.now() - abortedMs > SAME_SIGNAL_MS) process.exit(INTERRUPTED_EXIT);
      return;
    }
    abortedMs = performance.now();
    printError(`\nending ${what}; once more to end at once`);
    controller.abort(new MeshError('interrupted', 'interrupted'));
  };
  // The last comes when a terminal is closed, or a connection to another machine.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, onSignal);
  return controller;
}
