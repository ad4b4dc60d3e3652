import { tickText } from './dom.js';
import { chartFigure } from './figure.js';
import { axisBelow, logTicks, Plot, rowLayout } from './rows.js';

/**
 * @typedef {import('../run/distribution.ts').DistributionsView} DistributionsView
 * @typedef {import('../run/distribution.ts').Distribution} Distribution
 */

/**
 * Every measured value as a tick, a row a distribution.
 *
 * @param {DistributionsView} view
 * @param {string} what
 */
export function distributionsFigure({ finding, distributions, table }, what) {
  return chartFigure({
    finding,
    caption: [`${what} The bar holds the middle half, the strong tick is the median. Logarithmic scale.`],
    table,
    draw: (width) => drawDistributions(distributions, width),
  }).figure;
}

/**
 * @param {readonly Distribution[]} distributions
 * @param {number} width
 */
function drawDistributions(distributions, width) {
  const { marks, grid, top, bottom, options } = rowLayout(distributions, width);
  const values = distributions.flatMap(({ samplesMs }, y) =>
    samplesMs.filter((ms) => ms > 0).map((ms) => ({ ms, y })),
  );
  const middles = distributions.map((one, y) => ({ ...one, y }));
  const [low, high] = values.reduce(
    ([least, most], { ms }) => [Math.min(least, ms), Math.max(most, ms)],
    [Number.POSITIVE_INFINITY, 0],
  );
  const ticks = logTicks(low, high, Math.max(3, Math.floor(width / 64)));
  return Plot.plot({
    ...options,
    ariaLabel: 'Distributions of times',
    x: { type: 'log', label: 'milliseconds', domain: [low * 0.95, high * 1.05] },
    marks: [
      grid(ticks),
      axisBelow(ticks, tickText),
      ...marks,
      Plot.barX(middles, {
        x1: 'quarterMs',
        x2: 'threeQuartersMs',
        y: 'y',
        fill: 'var(--band)',
        insetTop: top,
        insetBottom: bottom,
      }),
      Plot.tickX(values, {
        x: 'ms',
        y: 'y',
        stroke: 'var(--ink)',
        strokeOpacity: 0.35,
        insetTop: top + 3,
        insetBottom: bottom + 3,
      }),
      Plot.tickX(middles, {
        x: 'medianMs',
        y: 'y',
        stroke: 'var(--accent)',
        strokeWidth: 3,
        insetTop: top - 2,
        insetBottom: bottom - 2,
      }),
    ],
  });
}
