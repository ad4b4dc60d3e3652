import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { printError } from '@gaia-mesh/evaluation/terminal/print.ts';
import { EXIT } from './exit-code.ts';

/**
 * Maximum times that one Ctrl-C arrives. The terminal sends it to this process, and also to npm and to the entry on an older Node,
 * which pass it on; nothing tells how late. Each may also get it alone, so that fewer signals come: a user who then presses Ctrl-C a
 * second time may have to press it again.
 */
const ARRIVALS = 1 + countPassers(process.env);

function countPassers({
  npm_lifecycle_script: script,
  GAIA_MESH_OLDER_NODE: older,
}: NodeJS.ProcessEnv): number {
  // If npm started another program, which started this one, it passes its signals to that program alone.
  const program = path.parse(process.argv[1] ?? '').name;
  return Number(script?.includes(program) === true) + Number(older !== undefined);
}

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
  let signals = 0;
  const onSignal = (signal: NodeJS.Signals) => {
    // A terminal closes once; the entry, which sends this signal when npm has ended, may do so long after a Ctrl-C.
    if (signal === 'SIGHUP' && signals > 0) return;
    signals += 1;
    if (signals % ARRIVALS !== 1 % ARRIVALS) return;
    const presses = Math.ceil(signals / ARRIVALS);
    if (presses > 2) process.exit(EXIT.interrupted);
    if (presses === 2) {
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
