import { element } from './dom.js';
import { chartFigure, createTable } from './figure.js';
import { Plot, ratioAxis, rowLayout } from './rows.js';

/** @typedef {import('../run/versus-view.ts').VersusView} VersusView */

/**
 * Runs side by side.
 *
 * @param {VersusView} view
 */
export function versusSection(view) {
  return element(
    'section',
    { id: 'versus' },
    element('h2', {}, 'Run against run'),
    createTable(view.table, 'Main figures of the runs'),
    element('p', { class: 'note' }, view.times),
    chartFigure({
      finding: view.finding,
      caption: ['Each size and number against that of run 1, on a logarithmic scale. They are exact.'],
      table: null,
      draw: (width) => drawVersus(view, width),
    }).figure,
  );
}

/**
 * @param {VersusView} view
 * @param {number} width
 */
function drawVersus({ ratios }, width) {
  const { marks, grid, line, top, bottom, options } = rowLayout(ratios, width);
  const bars = ratios.map((row, y) => ({ ...row, y, title: `${row.label}: ${row.text}` }));
  const all = [1, ...ratios.map(({ ratio }) => ratio)];
  const [low, high] = [Math.min(...all) * 0.95, Math.max(...all) * 1.05];
  const x = ratioAxis(low, high, width, 'times the figure of run 1');
  return Plot.plot({
    ...options,
    ariaLabel: 'Figures of the runs as ratios to the first',
    x,
    marks: [
      grid(x.ticks),
      ...marks,
      Plot.barX(bars, {
        x1: 1,
        x2: 'ratio',
        y: 'y',
        fill: 'var(--accent)',
        insetTop: top,
        insetBottom: bottom,
      }),
      line(1, 'var(--ink)'),
      Plot.tip(bars, Plot.pointerY({ x: 'ratio', y: 'y', title: 'title' })),
    ],
  });
}
