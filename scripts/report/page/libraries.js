/**
 * What the scripts before this one left: Observable Plot, and of D3 what is used directly.
 *
 * @typedef {{ ticks(start: number, stop: number, count: number): number[] }} D3
 */
const globals = /** @type {{ Plot: typeof import('@observablehq/plot'), d3: D3 }} */ (
  /** @type {unknown} */ (globalThis)
);

export const { Plot, d3 } = globals;
