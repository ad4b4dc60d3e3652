import type { RunObserver } from '@gaia-mesh/core/run/run-options.ts';
import { createStyles, printError, type Styles } from './print.ts';
import { count, toOneLine } from './table.ts';
import { describeTrouble } from './trouble.ts';

/** Progress of a run for people, all of it on standard error. */
export interface Progress {
  readonly observer: RunObserver;
  note(text: string): void;
  end(): void;
}

const silent = { note: () => undefined, end: () => undefined };

/** Creates a progress display that reports alarms alone. */
export function createQuietProgress(): Progress {
  return {
    ...silent,
    observer: createAlarms({ say: printError, styles: createStyles(process.stderr), note: () => undefined }),
  };
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
  const alarms = createAlarms({ say: printError, styles });
  return {
    ...silent,
    note: (text) => printError(text),
    observer: {
      event(event) {
        alarms.event?.(event);
        if (event.event === 'broadcast') line('hub', 'all', event.type, event.bytes, event.recipients);
        if (event.event !== 'agent_up') return;
        const { id, tool, where, pid } = event;
        const ms = (performance.now() - startMs).toFixed(1).padStart(8);
        printError(
          `${styles.dim(`${ms} ms`)}  agent ${id} ${styles.bold(tool.padEnd(8))} ${where}  ${styles.dim(`process ${pid}`)}`,
        );
      },
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

/** Maximum characters of a report, whose reason may come from an agent. */
const MAX_ALARM_CHARACTERS = 300;

interface Alarms {
  /** Receives refusals and losses. */
  readonly say: (text: string) => void;
  /** Receives injected faults and restarts; the default is `say`. */
  readonly note?: (text: string) => void;
  readonly styles?: Styles;
}

/** Creates an observer that reports refusals, losses and faults. Faults of single deliveries are only counted. */
export function createAlarms({ say, note = say, styles }: Alarms): RunObserver {
  return {
    event(event) {
      const trouble = describeTrouble(event);
      if (trouble === undefined) return;
      const text = toOneLine(trouble, MAX_ALARM_CHARACTERS);
      switch (event.event) {
        case 'fault':
        case 'undeliverable':
          break;
        case 'refused':
          say(styles?.yellow(text) ?? text);
          break;
        case 'agent_lost':
        case 'agent_died':
          // With styles it goes to a terminal, where the end of the agent's log keeps its lines.
          say(styles?.red(trouble) ?? text);
          break;
        default:
          note(text);
      }
    },
  };
}
