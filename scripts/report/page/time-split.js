import { chartFigure } from './chart-figure.js';
import { tickText } from './format.js';
import { Plot } from './libraries.js';
import { rowLayout } from './rows.js';

/** @typedef {import('../time-view.ts').TimeView} TimeView */

/**
 * Where the time went, a bar a part.
 *
 * @param {TimeView} view
 */
export function timeSplitFigure({ finding, caption, parts, table }) {
  return chartFigure({ finding, caption: [caption], table, draw: (width) => drawParts(parts, width) }).figure;
}

/**
 * @param {TimeView['parts']} parts
 * @param {number} width
 */
function drawParts(parts, width) {
  const rows = parts.map(({ name, text }) => ({ label: name, text }));
  const { marks, grid, line, top, bottom, options } = rowLayout(rows, width);
  const bars = parts.map((part, y) => ({ ...part, y, title: `${part.name}: ${part.what}\n${part.text}` }));
  return Plot.plot({
    ...options,
    ariaLabel: 'Where the time went',
    x: { label: 'milliseconds', tickFormat: tickText, ticks: width / 110 },
    marks: [
      grid(width / 110),
      ...marks,
      Plot.barX(bars, {
        x: 'ms',
        y: 'y',
        fill: (part) => (part.isMesh ? 'var(--accent)' : 'var(--part-payload)'),
        insetTop: top,
        insetBottom: bottom,
      }),
      line(0, 'var(--muted)'),
      Plot.tip(bars, Plot.pointerY({ x: 'ms', y: 'y', title: 'title' })),
    ],
  });
}
