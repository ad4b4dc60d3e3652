/** One cell of a factorial plan: what was set, and what fresh processes measured under it. */
export interface Cell {
  /** Of every factor its level, e.g. `{ protocol: 'a2a', transport: 'http1', implementation: 'sdk', tls: 'off' }`. */
  readonly levels: Readonly<Record<string, string>>;
  /** The j-th round of the i-th invocation, positive. Invocations of all cells that have the same place ran side by side. */
  readonly samples: readonly (readonly number[])[];
}
