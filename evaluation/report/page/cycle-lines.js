import { chartFigure } from './figure.js';
import { ACCURACY_AXIS, CHARACTER, Plot } from './rows.js';

/** @typedef {import('../gaia/cycles-view.ts').CyclesView} CyclesView */

/** Teams in one cycle stand beside each other, so that their whiskers can be told apart. */
const TEAM_STEP = 0.07;

/**
 * Score by cycle, first attempts apart from repeats.
 *
 * @param {CyclesView} view
 */
export function cycleLinesFigure({ finding, lines, table }) {
  return chartFigure({
    finding,
    caption: [
      'Filled: first attempts. Hollow: repeats, when a team that learns has seen the questions; they are never added to the score of first attempts. The whisker is the 95 % interval.',
    ],
    table,
    draw: (width) => drawCycles(lines, width),
  }).figure;
}

/**
 * @param {CyclesView['lines']} lines
 * @param {number} width
 */
function drawCycles(lines, width) {
  const points = lines.flatMap(({ team, points: own }, index) =>
    own.map((point) => ({
      ...point,
      team,
      x: point.cycle + (index - (lines.length - 1) / 2) * TEAM_STEP,
      title: `${team}, ${point.text}`,
    })),
  );
  const cycles = [...new Set(points.map(({ cycle }) => cycle))];
  const last = Math.max(...cycles);
  const isWide = width >= 500;
  const names = lines.map(({ team }) => team.length * CHARACTER);
  const ends = apart(points.filter(({ cycle }) => cycle === last));
  return Plot.plot({
    width,
    height: Math.min(400, Math.max(280, width / 2)),
    marginLeft: 52,
    marginRight: isWide ? 24 + Math.max(0, ...names) : 16,
    marginTop: 32,
    marginBottom: 44,
    className: 'chart',
    ariaLabel: 'Accuracy by cycle',
    x: {
      domain: [Math.min(...cycles) - 0.4, last + 0.4],
      label: 'cycle',
      ticks: cycles,
      tickFormat: (/** @type {number} */ cycle) => (cycle === 1 ? '1 (first)' : String(cycle)),
    },
    y: ACCURACY_AXIS,
    marks: [
      Plot.gridY({ ticks: ACCURACY_AXIS.ticks, stroke: 'var(--rule)', strokeOpacity: 1 }),
      Plot.line(points, { x: 'x', y: 'accuracy', z: 'team', stroke: 'var(--accent)', strokeOpacity: 0.6 }),
      Plot.ruleX(points, { x: 'x', y1: 'low', y2: 'high', stroke: 'var(--muted)', strokeWidth: 1.5 }),
      Plot.dot(points, {
        x: 'x',
        y: 'accuracy',
        r: 5,
        fill: (/** @type {{ cycle: number }} */ { cycle }) =>
          cycle === 1 ? 'var(--accent)' : 'var(--paper)',
        stroke: 'var(--accent)',
        strokeWidth: 1.5,
      }),
      isWide
        ? Plot.text(ends, {
            x: last + 0.4,
            y: 'at',
            text: 'team',
            textAnchor: 'start',
            dx: 6,
            fill: 'var(--ink)',
          })
        : null,
      Plot.tip(points, Plot.pointer({ x: 'x', y: 'accuracy', title: 'title' })),
    ],
  });
}

/**
 * Names at the ends of lines, each as high as its line or as much above the one below as can be read.
 *
 * @template {{ accuracy: number }} T
 * @param {readonly T[]} ends
 * @returns {(T & { at: number })[]}
 */
function apart(ends) {
  let free = Number.NEGATIVE_INFINITY;
  return [...ends]
    .sort((a, b) => a.accuracy - b.accuracy)
    .map((end) => {
      const at = Math.max(end.accuracy, free);
      free = at + 0.055;
      return { ...end, at };
    });
}
