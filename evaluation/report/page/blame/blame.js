import { element } from '../dom.js';
import { chartFigure, createTable, section } from '../figure.js';
import { Plot } from '../rows.js';

/** @typedef {import('../../blame/blame-view.ts').BlameView} BlameView */

/** Replacements of a message, by their mark. */
const SYMBOLS = /** @type {const} */ ({ truth: 'triangle', other: 'square', neutral: 'times' });

/**
 * Renders the messages that made an answer wrong.
 *
 * @param {BlameView} view
 * /
 */
export function blameSections(view) {
  return [
    section(
      'blame',
      'Blame',
      'Message by message',
      ...view.facts.map((fact) => element('p', {}, fact)),
      ...view.warnings.map((warning) => element('p', { class: 'alarm' }, `Warning: ${warning}`)),
      chartFigure({
        finding: 'The chance of a right answer, once the messages up to one are as they were',
        caption: [
          'The line falls at the message that made the answer wrong. Bars are intervals of 95 %. Marks: the truth (triangle), another question’s message (square) and one that says nothing (cross) in the place of a message.',
        ],
        table: null,
        draw: (width) => draw(view, width),
      }).figure,
      createTable(view.table, 'Messages'),
    ),
    section(
      'messages',
      'What they said',
      'What the messages said',
      ...view.messages.map(({ name, says }) =>
        element('details', {}, element('summary', {}, name), element('pre', { class: 'payload' }, says)),
      ),
    ),
  ];
}

/**
 * @param {BlameView} view
 * @param {number} width
 */
function draw({ chances, instead }, width) {
  const isNarrow = width < 600;
  const place = (/** @type {number} */ value) => chances.find((point) => point.place === value);
  return Plot.plot({
    width,
    height: isNarrow ? 300 : 360,
    marginLeft: 48,
    marginBottom: isNarrow ? 40 : 110,
    className: 'chart',
    ariaLabel: 'Chance of a right answer by message',
    x: {
      type: 'point',
      domain: chances.map((point) => point.place),
      label: isNarrow ? 'message' : null,
      tickRotate: isNarrow ? 0 : -40,
      tickFormat: (/** @type {number} */ value) =>
        isNarrow ? String(value) : `${value === 0 ? '' : `${value} `}${place(value)?.label ?? ''}`,
    },
    y: {
      domain: [0, 1],
      label: 'chance of a right answer',
      percent: false,
      ticks: [0, 0.25, 0.5, 0.75, 1],
      tickFormat: (/** @type {number} */ value) => `${value * 100} %`,
    },
    marks: [
      Plot.gridY({ ticks: [0, 0.25, 0.5, 0.75, 1], stroke: 'var(--rule)', strokeOpacity: 1 }),
      Plot.ruleX(chances, {
        x: 'place',
        y1: 'low',
        y2: 'high',
        stroke: 'var(--accent)',
        strokeOpacity: 0.5,
        strokeWidth: 3,
      }),
      Plot.line(chances, { x: 'place', y: 'chance', stroke: 'var(--accent)', curve: 'linear' }),
      ...Object.entries(SYMBOLS).map(([what, symbol], index) =>
        Plot.dot(
          instead.filter((point) => point.what === what),
          { x: 'place', y: 'chance', symbol, r: 4, dx: 8 + 6 * index, stroke: 'var(--ink)', fill: 'none' },
        ),
      ),
      Plot.dot(chances, { x: 'place', y: 'chance', fill: 'var(--accent)', r: 4 }),
      Plot.dot(
        chances.filter(({ isBlamed }) => isBlamed),
        { x: 'place', y: 'chance', fill: 'none', stroke: 'var(--alarm)', strokeWidth: 2.5, r: 9 },
      ),
      Plot.tip([...chances, ...instead], Plot.pointer({ x: 'place', y: 'chance', title: 'title' })),
    ],
  });
}
