import { createChoice, tickText } from './dom.js';
import { chartFigure, createTable } from './figure.js';
import { ACCURACY_AXIS, CHARACTER, logTicks, Plot } from './rows.js';

/**
 * @typedef {import('../gaia/score-cost-view.ts').ScoreCostView} ScoreCostView
 * @typedef {import('../gaia/score-cost-view.ts').ScoreMeasure} ScoreMeasure
 * @typedef {import('../gaia/score-cost-view.ts').ScorePoint} ScorePoint
 */

const SCORE_MARGIN = { left: 52, right: 16, top: 32, bottom: 44 };
const LABEL_HEIGHT = 15;
const POINT_RADIUS = 6;

/**
 * Accuracy against what a right answer takes.
 *
 * @param {ScoreCostView} view
 */
export function scoreCostFigure({ finding, measures }) {
  let [measure] = measures;
  const controls = createChoice(
    'What a right answer takes',
    measures.map(({ name }) => name),
    (index) => {
      measure = measures[index];
      redraw();
    },
  );
  const [first] = measures;
  const left =
    first === undefined || first.left.length === 0
      ? ''
      : ` Without a right answer, and so without a place: ${first.left.join(', ')}.`;
  const { figure, redraw } = chartFigure({
    finding,
    caption: [
      'Up is more accurate, left is cheaper, on a logarithmic scale. The whisker is the 95 % interval of the accuracy. ',
      `The square is the baseline. Cached answers took nothing and are left out of what is taken.${left}`,
    ],
    table: createScoreTable(measures),
    controls,
    draw: (width) => drawScores(measure, width),
  });
  return figure;
}

/** @param {readonly ScoreMeasure[]} measures */
function createScoreTable(measures) {
  const rows = measures.flatMap(({ name, points }) => points.map(({ team, text }) => [team, name, text]));
  return {
    columns: ['team', '', 'accuracy (interval), and what a right answer takes'].map((title) => ({
      title,
      isNumber: false,
    })),
    rows,
  };
}

/**
 * @param {ScoreMeasure | undefined} measure
 * @param {number} width
 */
function drawScores(measure, width) {
  if (measure === undefined) return createTable({ columns: [], rows: [] }, '');
  const { points, label } = measure;
  const values = points.map(({ per }) => per);
  const [low, high] = [Math.min(...values) / 1.6, Math.max(...values) * 1.6];
  const height = Math.min(440, Math.max(300, width / 2));
  const ticks = logTicks(low, high, Math.max(3, Math.floor(width / 80)));
  const rows = points.map((point) => ({ ...point, title: `${point.team}: ${point.text}` }));
  const places = labelPlaces(points, { low, high, width, height });
  return Plot.plot({
    width,
    height,
    marginLeft: SCORE_MARGIN.left,
    marginRight: SCORE_MARGIN.right,
    marginTop: SCORE_MARGIN.top,
    marginBottom: SCORE_MARGIN.bottom,
    className: 'chart',
    ariaLabel: `Accuracy against ${label}`,
    x: { type: 'log', domain: [low, high], label, ticks, tickFormat: tickText },
    y: ACCURACY_AXIS,
    marks: [
      Plot.gridY({ ticks: ACCURACY_AXIS.ticks, stroke: 'var(--rule)', strokeOpacity: 1 }),
      Plot.gridX({ ticks, stroke: 'var(--rule)', strokeOpacity: 1 }),
      Plot.ruleX(rows, { x: 'per', y1: 'low', y2: 'high', stroke: 'var(--muted)', strokeWidth: 1.5 }),
      Plot.dot(rows, {
        x: 'per',
        y: 'accuracy',
        r: POINT_RADIUS,
        symbol: (/** @type {ScorePoint} */ point) => (point.isBaseline ? 'square' : 'circle'),
        fill: (/** @type {ScorePoint} */ point) => (point.isBaseline ? 'var(--ink)' : 'var(--accent)'),
        stroke: 'var(--paper)',
      }),
      ...places.map(({ point, anchor, dx, dy }) =>
        Plot.text([point], {
          x: 'per',
          y: 'accuracy',
          text: 'team',
          textAnchor: anchor,
          dx,
          dy,
          fill: 'var(--ink)',
          stroke: 'var(--paper)',
          strokeWidth: 4,
        }),
      ),
      Plot.tip(rows, Plot.pointer({ x: 'per', y: 'accuracy', title: 'title' })),
    ],
  });
}

/** Possible positions of a name, the best first: beside its point, above or below it, and at its corners. */
const PLACES = /** @type {const} */ ([
  ['start', 10, 0],
  ['end', -10, 0],
  ['middle', 0, -15],
  ['middle', 0, 15],
  ['start', 8, -12],
  ['start', 8, 12],
  ['end', -8, -12],
  ['end', -8, 12],
]);

/**
 * Places each name at the first position that is within the frame and overlaps no other name or point, or at the one that hides least.
 *
 * @param {readonly ScorePoint[]} points
 * @param {{ low: number, high: number, width: number, height: number }} frame
 * /
 */
function labelPlaces(points, { low, high, width, height }) {
  const across = width - SCORE_MARGIN.left - SCORE_MARGIN.right;
  const down = height - SCORE_MARGIN.top - SCORE_MARGIN.bottom;
  const spots = points.map((point) => ({
    point,
    x: SCORE_MARGIN.left + (across * Math.log(point.per / low)) / Math.log(high / low),
    y: SCORE_MARGIN.top + down * (1 - point.accuracy),
  }));
  const taken = spots.map(({ x, y }) => measureBox(x, y, 2 * POINT_RADIUS, 2 * POINT_RADIUS));
  return spots.map(({ point, x, y }) => {
    const length = point.team.length * CHARACTER;
    const choices = PLACES.map(([anchor, dx, dy]) => {
      const side = anchor === 'start' ? length / 2 : anchor === 'end' ? -length / 2 : 0;
      const box = measureBox(x + dx + side, y + dy, length, LABEL_HEIGHT);
      const outside = Math.max(0, SCORE_MARGIN.left - box.left) + Math.max(0, box.right - width);
      const hidden = taken.reduce((sum, other) => sum + overlap(box, other), 0);
      return { anchor, dx, dy, box, cost: hidden + outside * LABEL_HEIGHT };
    });
    const best = choices.reduce((least, one) => (one.cost < least.cost ? one : least));
    taken.push(best.box);
    return { point, anchor: best.anchor, dx: best.dx, dy: best.dy };
  });
}

/**
 * @param {number} x its middle
 * @param {number} y
 * @param {number} width
 * @param {number} height
 */
function measureBox(x, y, width, height) {
  return { left: x - width / 2, right: x + width / 2, top: y - height / 2, bottom: y + height / 2 };
}

/**
 * @param {ReturnType<typeof measureBox>} a
 * @param {ReturnType<typeof measureBox>} b
 */
function overlap(a, b) {
  const x = Math.min(a.right, b.right) - Math.max(a.left, b.left);
  const y = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
  return x > 0 && y > 0 ? x * y : 0;
}
