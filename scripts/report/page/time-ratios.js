import { chartFigure } from './chart-figure.js';
import { Plot } from './libraries.js';
import { rowLayout } from './rows.js';
import { logTicks } from './ticks.js';

/** @typedef {import('../comparison-view.ts').ComparisonView} ComparisonView */

/**
 * Times against the baseline's: a dot with its interval for each adapter, on the noise that the baseline shows against itself.
 *
 * @param {ComparisonView} view
 */
export function timeRatiosFigure({ time, baseline }) {
  const { finding, ratios, noise, table } = time;
  const band =
    noise === null
      ? 'There are too few rounds to know the noise.'
      : `The band is the noise: what ${baseline} shows against itself when it is played twice in every round. A difference is called only where the dot lies outside it, the interval does not reach 1× and a test corrected for the number of adapters agrees.`;
  return chartFigure({
    finding,
    caption: [
      `Time of a round against ${baseline} in the same round: median and 95 % interval, on a logarithmic scale. ${band}`,
    ],
    table,
    draw: (width) => drawRatios(ratios, noise, width),
  }).figure;
}

/**
 * @param {ComparisonView['time']['ratios']} ratios
 * @param {ComparisonView['time']['noise']} noise
 * @param {number} width
 */
function drawRatios(ratios, noise, width) {
  const known = ratios.flatMap(({ ratio, low, high }) => [
    ratio,
    ...(low > 0 ? [low] : []),
    ...(high === null ? [] : [high]),
  ]);
  const all = [...known, 1, ...(noise === null ? [] : [noise.low, noise.high])];
  const low = Math.min(...all) * 0.94;
  const high = Math.max(...all) * 1.06;
  const rows = ratios.map((row) => ({ ...row, isQuiet: !row.isDetected }));
  const { marks, grid, line, isNarrow, options } = rowLayout(rows, width);
  const colour = (/** @type {{ isDetected: boolean }} */ row) =>
    row.isDetected ? 'var(--accent)' : 'var(--muted)';
  const places = ratios.map((row, y) => ({
    ...row,
    y,
    // Where an interval has no end it reaches to the end of the chart.
    low: Math.max(row.low, low),
    high: row.high ?? high,
    title: `${row.label}: ${row.text}`,
  }));
  const dy = isNarrow ? 8 : 0;
  const ticks = logTicks(low, high, Math.max(3, Math.floor(width / 64)));
  return Plot.plot({
    ...options,
    ariaLabel: 'Time of each adapter as a ratio to the baseline, with intervals',
    x: {
      type: 'log',
      domain: [low, high],
      label: 'times as long',
      ticks,
      tickFormat: (ratio) => `${ratio}×`,
    },
    marks: [
      noise === null ? null : Plot.rectX([noise], { x1: 'low', x2: 'high', fill: 'var(--band)' }),
      grid(ticks),
      line(1, 'var(--muted)'),
      ...marks,
      Plot.link(places, { x1: 'low', x2: 'high', y: 'y', stroke: colour, strokeWidth: 2, dy }),
      Plot.dot(places, { x: 'ratio', y: 'y', r: 5, fill: colour, stroke: 'var(--paper)', dy }),
      Plot.tip(places, Plot.pointerY({ x: 'ratio', y: 'y', title: 'title', dy })),
    ],
  });
}
