import { element, tickText } from '../dom.js';
import { chartFigure, createTable } from '../figure.js';
import { logTicks, Plot } from '../rows.js';

/** @typedef {import('../../comparison/growth-view.ts').GrowthView} GrowthView */

/** Lines that lie on each other are told apart by what is said of a point; more would be a thicket. */
const LABELLED = 6;

/**
 * Renders the growth of cost with the number of agents.
 *
 * @param {GrowthView} view
 * /
 */
export function growthFigure(view) {
  if (view.lines.length === 0) {
    return element('div', {}, element('h3', {}, view.finding), createTable(view.table, view.finding));
  }
  return chartFigure({
    finding: view.finding,
    caption: [
      'Bytes of one task on all sockets, on logarithmic scales: every packet goes to all others, so each agent more is a copy more. ',
      'Agents beyond those of the run listen and say nothing.',
    ],
    table: view.table,
    draw: (width) => drawGrowth(view.lines, width),
  }).figure;
}

/**
 * @param {GrowthView['lines']} lines
 * @param {number} width
 */
function drawGrowth(lines, width) {
  const points = lines.flatMap(({ adapter, points: own }) => own.map((point) => ({ ...point, adapter })));
  const bytes = points.map((point) => point.bytes);
  const [low, high] = [Math.min(...bytes) * 0.9, Math.max(...bytes) * 1.1];
  const agents = [...new Set(points.map((point) => point.agents))];
  const ends = lines.slice(0, LABELLED).flatMap(({ adapter, points: own }) => {
    const last = own.at(-1);
    return last === undefined ? [] : [{ ...last, adapter }];
  });
  return Plot.plot({
    width,
    height: Math.min(420, Math.max(260, width / 2)),
    marginLeft: 56,
    marginRight: width < 500 ? 20 : 110,
    marginBottom: 44,
    className: 'chart',
    ariaLabel: 'Bytes of a task against the number of agents',
    x: { type: 'log', label: 'agents', ticks: agents, tickFormat: (count) => String(count) },
    y: {
      type: 'log',
      domain: [low, high],
      label: 'bytes a task',
      ticks: logTicks(low, high, 5),
      tickFormat: tickText,
    },
    marks: [
      Plot.gridY({ ticks: logTicks(low, high, 5), stroke: 'var(--rule)', strokeOpacity: 1 }),
      Plot.line(points, {
        x: 'agents',
        y: 'bytes',
        z: 'adapter',
        stroke: 'var(--accent)',
        strokeOpacity: 0.6,
      }),
      Plot.dot(points, { x: 'agents', y: 'bytes', fill: 'var(--accent)', r: 3 }),
      width < 500
        ? null
        : Plot.text(spread(ends), {
            x: 'agents',
            y: 'at',
            text: 'adapter',
            textAnchor: 'start',
            dx: 8,
            fill: 'var(--ink)',
          }),
      Plot.tip(points, Plot.pointer({ x: 'agents', y: 'bytes', title: 'title' })),
    ],
  });
}

/**
 * Labels of lines that end close together, set apart so that each can be read.
 *
 * @template {{ bytes: number }} T
 * @param {readonly T[]} ends
 * @returns {(T & { at: number })[]}
 */
function spread(ends) {
  let below = 0;
  return [...ends]
    .sort((a, b) => a.bytes - b.bytes)
    .map((end) => {
      below = Math.max(end.bytes, below * 1.14);
      return { ...end, at: below };
    });
}
