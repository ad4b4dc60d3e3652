import type { TimedFault } from './fault.ts';

/** Record of a timed fault; times are milliseconds from the start of the first task. */
export interface TimedFaultRecord {
  readonly fault: string;
  readonly kind: TimedFault['kind'];
  /** Null if the run ended before the fault was due. */
  at_ms: number | null;
  /** End of the fault; null for a kill, and for a fault that did not happen. */
  ended_ms: number | null;
}

interface FaultActions {
  begin(fault: TimedFault): void;
  end(fault: TimedFault): void;
}

/** Triggers timed faults at their times. */
export class FaultSchedule {
  readonly records: readonly TimedFaultRecord[];
  readonly #faults: readonly TimedFault[];
  readonly #actions: FaultActions;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #ending = new Map<TimedFaultRecord, () => void>();
  #startMs: number | undefined;

  constructor(faults: readonly TimedFault[], actions: FaultActions) {
    this.#faults = faults;
    this.#actions = actions;
    this.records = faults.map(({ text, kind }) => ({ fault: text, kind, at_ms: null, ended_ms: null }));
  }

  /** Starts the clock with the first task. Later calls change nothing. */
  start(): void {
    if (this.#startMs !== undefined) return;
    this.#startMs = performance.now();
    this.#faults.forEach((fault, index) => {
      const record = this.records[index];
      if (record === undefined) return;
      this.#timers.push(setTimeout(() => this.#begin(fault, record), fault.atMs));
    });
  }

  /** Cancels future faults and ends the present ones. */
  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    for (const end of [...this.#ending.values()]) end();
  }

  #begin(fault: TimedFault, record: TimedFaultRecord): void {
    record.at_ms = this.#sinceStart();
    this.#actions.begin(fault);
    if (fault.kind === 'kill') return;
    const end = () => {
      this.#ending.delete(record);
      record.ended_ms = this.#sinceStart();
      this.#actions.end(fault);
    };
    this.#ending.set(record, end);
    this.#timers.push(setTimeout(end, fault.forMs));
  }

  #sinceStart(): number {
    return Math.round(performance.now() - (this.#startMs ?? performance.now()));
  }
}
