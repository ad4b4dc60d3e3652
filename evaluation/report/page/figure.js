import { element } from './dom.js';

/** @typedef {import('../../terminal/table-view.ts').TableView} TableView */

/** Cells that say that there is nothing to see are there and do not call. */
const QUIET = ['–', 'no detectable difference', 'baseline'];

/**
 * A table that scrolls within itself where it is wider than the page.
 *
 * @param {TableView} view
 * @param {string} label
 */
export function createTable({ columns, rows }, label) {
  const numeric = columns.map(({ isNumber }) => (isNumber ? { class: 'number' } : {}));
  const head = element(
    'tr',
    {},
    ...columns.map(({ title }, i) => element('th', { scope: 'col', ...numeric[i] }, title)),
  );
  const body = rows.map((row) =>
    element(
      'tr',
      {},
      ...row.map((cell, i) =>
        i === 0
          ? element('th', { scope: 'row' }, cell)
          : element(
              'td',
              { ...numeric[i] },
              QUIET.includes(cell) ? element('span', { class: 'quiet' }, cell) : cell,
            ),
      ),
    ),
  );
  // Focusable, so that a keyboard can scroll it.
  return element(
    'div',
    { class: 'scroll', role: 'region', tabindex: '0', 'aria-label': label },
    element('table', {}, element('thead', {}, head), element('tbody', {}, ...body)),
  );
}

/**
 * The figures of a chart, for those who would rather read them.
 *
 * @param {TableView} table
 * @param {string} label
 */
function tableBelow(table, label) {
  return element('details', {}, element('summary', {}, 'Figures as a table'), createTable(table, label));
}

/**
 * A chart below what it shows, above what it is, with its figures as a table.
 *
 * @param {{
 *   finding: string,
 *   caption: readonly (import('./dom.js').Child)[],
 *   table: import('../../terminal/table-view.ts').TableView | null,
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

/**
 * @param {string} id
 * @param {string} name
 * @param {string} heading
 * @param {readonly (import('./dom.js').Child)[]} children
 */
export function section(id, name, heading, ...children) {
  return { id, name, node: element('section', { id }, element('h2', {}, heading), ...children) };
}

/**
 * @param {string} finding
 * @param {TableView} table
 * @param {string} note
 */
export function tableBlock(finding, table, note) {
  return element(
    'div',
    { class: 'block' },
    element('h3', {}, finding),
    createTable(table, finding),
    element('p', { class: 'note' }, note),
  );
}
