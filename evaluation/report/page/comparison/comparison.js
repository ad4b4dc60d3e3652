import { distributionsFigure } from '../distributions.js';
import { element } from '../dom.js';
import { chartFigure, createTable } from '../figure.js';
import { Plot, ratioAxis, rowLayout } from '../rows.js';
import { waterfallFigure } from '../waterfall.js';
import { growthFigure } from './growth.js';
import { measureAgain } from './measure-again.js';
import { panelsFigure } from './panels.js';

/**
 * Renders the costs of adapters on the same packets.
 *
 * @param {import('../../comparison/comparison-view.ts').ComparisonView} view
 * /
 */
export function comparisonSection(view) {
  return element(
    'section',
    { id: 'comparison' },
    element('h2', {}, 'Every adapter, the same packets'),
    element('p', { class: 'lead' }, view.made),
    ...view.warnings.map((warning) => element('p', { class: 'note' }, `Warning: ${warning}.`)),
    createTable(view.table, 'What each adapter costs'),
    element('p', { class: 'note' }, view.columns),
    waterfallFigure(view.bytes),
    timeRatiosFigure(view),
    view.latency === null
      ? element('p', { class: 'note' }, 'This comparison holds too few samples to draw their distribution.')
      : distributionsFigure(
          view.latency,
          'Each tick is one sample: all packets through the live mesh, so many times that it lasts.',
        ),
    ...groupBlocks(view),
    view.growth === null ? null : growthFigure(view.growth),
    view.rounds === null ? null : panelsFigure(view.rounds, 'Rounds over time'),
    element('h3', { class: 'apart' }, 'How to disagree'),
    ...measureAgain(view, 'comparison.json'),
  );
}

/** @param {ComparisonView} view */
function groupBlocks({ groups, baseline }) {
  if (groups.length === 0) return [];
  return [
    element('h3', { class: 'apart' }, 'Bytes by kind of traffic and by size'),
    element(
      'p',
      { class: 'note' },
      `Times the bytes of ${baseline} for the same packets; in brackets how many there are. An envelope weighs less where payloads are large.`,
    ),
    ...groups.map((table) =>
      element('div', { class: 'block' }, createTable(table, 'Bytes by kind and size')),
    ),
  ];
}

/** @typedef {import('../../comparison/comparison-view.ts').ComparisonView} ComparisonView */

/**
 * Times against the baseline's: a dot with its interval for each adapter, on the band of ratios that count as equal.
 *
 * @param {ComparisonView} view
 */
function timeRatiosFigure({ time, baseline }) {
  const { finding, ratios, equal, nullTest, table } = time;
  return chartFigure({
    finding,
    caption: [
      `Task time against ${baseline}, each adapter in fresh processes of its own: ratio and 95 % interval, on a logarithmic scale. In the band (${equal.text}) ratios count as equal: a pair is equal where two one-sided tests show that, different where the interval does not reach 1× and a test corrected for the number of adapters agrees, and else it cannot be told. The null test: ${nullTest}.`,
    ],
    table,
    draw: (width) => drawRatios(ratios, equal, width),
  }).figure;
}

/**
 * @param {ComparisonView['time']['ratios']} ratios
 * @param {ComparisonView['time']['equal']} equal
 * @param {number} width
 * @param {number} [nameRoom] as rowLayout has it
 */
export function drawRatios(ratios, equal, width, nameRoom) {
  const known = ratios.flatMap(({ ratio, low, high }) => [
    ratio,
    ...(low > 0 ? [low] : []),
    ...(high === null ? [] : [high]),
  ]);
  const all = [...known, 1, equal.low, equal.high];
  const low = Math.min(...all) * 0.94;
  const high = Math.max(...all) * 1.06;
  const rows = ratios.map((row) => ({ ...row, isQuiet: !row.isDetected }));
  const { marks, grid, line, isNarrow, options } = rowLayout(rows, width, nameRoom);
  const colour = (/** @type {{ isDetected: boolean }} */ row) =>
    row.isDetected ? 'var(--accent)' : 'var(--muted)';
  const places = ratios.map((row, y) => ({
    ...row,
    y,
    // An interval without an end reaches to the end of the chart.
    low: Math.max(row.low, low),
    high: row.high ?? high,
    title: `${row.label}: ${row.text}`,
  }));
  const dy = isNarrow ? 8 : 0;
  const x = ratioAxis(low, high, width, 'times as long');
  return Plot.plot({
    ...options,
    ariaLabel: 'Time of each as a ratio to the baseline, with intervals',
    x,
    marks: [
      Plot.rectX([equal], { x1: 'low', x2: 'high', fill: 'var(--band)' }),
      grid(x.ticks),
      line(1, 'var(--muted)'),
      ...marks,
      Plot.link(places, { x1: 'low', x2: 'high', y: 'y', stroke: colour, strokeWidth: 2, dy }),
      Plot.dot(places, { x: 'ratio', y: 'y', r: 5, fill: colour, stroke: 'var(--paper)', dy }),
      Plot.tip(places, Plot.pointerY({ x: 'ratio', y: 'y', title: 'title', dy })),
    ],
  });
}
