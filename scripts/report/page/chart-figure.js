import { element } from './dom.js';
import { tableBelow } from './table.js';

/**
 * A chart below what it shows, above what it is, with its figures as a table.
 *
 * @param {{
 *   finding: string,
 *   caption: readonly (import('./dom.js').Child)[],
 *   table: import('../table-view.ts').TableView | null,
 *   controls?: HTMLElement,
 *   draw: (width: number) => Element,
 * }} chart
 * @returns {{ figure: HTMLElement, redraw: () => void }}
 */
export function chartFigure({ finding, caption, table, controls, draw }) {
  const frame = element('div', { class: 'frame' });
  let width = 0;
  const redraw = () => {
    if (width > 0) frame.replaceChildren(draw(width));
  };
  new ResizeObserver(([entry]) => {
    const next = Math.floor(entry?.contentRect.width ?? 0);
    if (next === width) return;
    width = next;
    // Not at once: what is drawn changes the height that is being observed.
    requestAnimationFrame(redraw);
  }).observe(frame);
  const figure = element(
    'figure',
    {},
    element('div', { class: 'heading' }, element('h3', {}, finding), controls ?? null),
    frame,
    element('figcaption', {}, ...caption),
    table === null ? null : tableBelow(table, finding),
  );
  return { figure, redraw };
}
