import { tickText } from '../dom.js';
import { chartFigure } from '../figure.js';
import { axisBelow, logTicks, Plot, rowLayout } from '../rows.js';
import { NAME_ROOM } from './stacked.js';

/** @typedef {import('../../stacks/density-view.ts').DensitiesView} DensitiesView */

/** Share of a row's height that a full bin takes; labels above leave less. */
const FILL = { wide: 0.78, narrow: 0.46 };

/**
 * Renders the distribution of times, one row for each stack: two hills are two kinds of exchange.
 *
 * @param {DensitiesView} view
 * /
 */
export function densitiesFigure({ finding, densities, caption, table }) {
  return chartFigure({
    finding,
    caption: [caption],
    table,
    draw: (width) => drawDensities(densities, width),
  }).figure;
}

/**
 * @param {DensitiesView['densities']} densities
 * @param {number} width
 */
function drawDensities(densities, width) {
  const { marks, grid, isNarrow, options } = rowLayout(densities, width, NAME_ROOM);
  const fill = isNarrow ? FILL.narrow : FILL.wide;
  const floor = 0.42;
  // Two corners a bin, so that the outline is that of its bars, down to the floor at both ends.
  const corners = densities.flatMap(({ edgesMs, heights }, y) => {
    const base = y + floor;
    const bars = heights.flatMap((height, index) =>
      [edgesMs[index], edgesMs[index + 1]].map((ms) => ({ ms, y, base, top: base - height * fill })),
    );
    return [{ ms: edgesMs[0], y, base, top: base }, ...bars, { ms: edgesMs.at(-1), y, base, top: base }];
  });
  const edges = densities.flatMap(({ edgesMs }) => edgesMs);
  const low = edges.reduce((least, ms) => Math.min(least, ms), Number.POSITIVE_INFINITY) * 0.95;
  const high = edges.reduce((most, ms) => Math.max(most, ms), 0) * 1.05;
  const ticks = logTicks(low, high, Math.max(3, Math.floor(width / 64)));
  const mark = (/** @type {number} */ y) => ({ y1: y + floor, y2: y + floor - fill });
  const middles = densities.map(({ p50Ms, label, text }, y) => ({
    ms: p50Ms,
    title: `${label}: ${text}`,
    y,
    ...mark(y),
  }));
  const tails = densities.flatMap(({ p99Ms }, y) => (p99Ms === null ? [] : [{ ms: p99Ms, ...mark(y) }]));
  return Plot.plot({
    ...options,
    ariaLabel: 'Distributions of the time of an exchange',
    x: { type: 'log', label: 'milliseconds', domain: [low, high] },
    y: { type: 'linear', domain: [densities.length - 0.5, -0.5], axis: null },
    marks: [
      grid(ticks),
      axisBelow(ticks, tickText),
      ...marks,
      Plot.areaY(corners, {
        x: 'ms',
        y1: 'base',
        y2: 'top',
        z: 'y',
        fill: 'var(--accent)',
        fillOpacity: 0.4,
      }),
      Plot.line(corners, { x: 'ms', y: 'top', z: 'y', stroke: 'var(--accent)', strokeWidth: 1 }),
      Plot.ruleX(tails, { x: 'ms', y1: 'y1', y2: 'y2', stroke: 'var(--ink)', strokeWidth: 1 }),
      Plot.ruleX(middles, { x: 'ms', y1: 'y1', y2: 'y2', stroke: 'var(--ink)', strokeWidth: 3 }),
      Plot.tip(middles, Plot.pointerY({ x: 'ms', y: 'y', title: 'title' })),
    ],
  });
}
