import type { RunObserver } from '@gaia-mesh/core/run/run-options.ts';
import { createStyles, printError, type Styles } from './print.ts';
import { ProgressBar } from './progress-bar.ts';
import { count, toOneLine } from './table.ts';

/** Progress of a run for people, all of it on standard error. */
export interface Progress {
  readonly observer: RunObserver;
  note(text: string): void;
  /** Counts a task that the cache answered, which the mesh has not seen. */
  cached(): void;
  end(): void;
}

const silent = { note: () => undefined, cached: () => undefined, end: () => undefined };

/** Creates a progress display that reports alarms alone. */
export function createQuietProgress(): Progress {
  return { ...silent, observer: createAlarms(createStyles(process.stderr), printError) };
}

/** Creates a progress display with every agent that comes up and every relayed packet: sender → recipient, type, bytes. */
export function flowProgress(): Progress {
  const styles = createStyles(process.stderr);
  const startMs = performance.now();
  const line = (from: string, to: string, type: string, bytes: number, copies: number) => {
    const ms = (performance.now() - startMs).toFixed(1).padStart(8);
    printError(
      `${styles.dim(`${ms} ms`)}  ${from.padEnd(12)} → ${to.padEnd(8)} ${styles.cyan(type.padEnd(12))} ${count(bytes).padStart(9)} B${styles.dim(copies > 1 ? ` × ${copies}` : '')}`,
    );
  };
  return {
    ...silent,
    note: (text) => printError(text),
    observer: {
      ...createAlarms(styles, printError),
      agentUp({ id, tool, where, pid }) {
        const ms = (performance.now() - startMs).toFixed(1).padStart(8);
        printError(
          `${styles.dim(`${ms} ms`)}  agent ${id} ${styles.bold(tool.padEnd(8))} ${where}  ${styles.dim(`process ${pid}`)}`,
        );
      },
      broadcast: (packet, _times, bytes, copies) => line('hub', 'all', packet.type, bytes, copies),
      relayed({ sender, packets, recipients }) {
        for (const { head, frameBytes } of packets) {
          const to = head.to ?? (recipients.length === 0 ? 'nobody' : 'others');
          const type = head.tag === undefined ? head.type : `${head.type} [${head.tag}]`;
          line(`${head.from} ${sender.node.tool}`, to, toOneLine(type, 40), frameBytes, recipients.length);
        }
      },
    },
  };
}

/** Creates a bar that fills as tasks end. */
export async function createBarProgress(total: number): Promise<Progress> {
  const bar = await ProgressBar.start(total, 'tasks');
  let answered = 0;
  const advance = (isAnswered: boolean) => {
    if (isAnswered) answered += 1;
    bar.advance(`${answered} answered`);
  };
  const note = (text: string) => bar.note(text);
  return {
    note,
    cached: () => advance(true),
    observer: {
      ...createAlarms(createStyles(process.stderr), note),
      taskEnded: ({ status }) => advance(status === 'answered'),
    },
    end: () => bar.end(),
  };
}

function createAlarms(styles: Styles, say: (text: string) => void): RunObserver {
  return {
    refused: (node, reason, bytes) =>
      say(styles.yellow(`refused from ${node}: ${toOneLine(reason, 200)} (${count(bytes)} B)`)),
    agentLost: (node, reason) => say(styles.red(`agent ${node.id} (${node.tool}) is gone: ${reason}`)),
  };
}
