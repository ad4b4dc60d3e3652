import { distributionsFigure } from './distributions.js';
import { element, tickText } from './dom.js';
import { chartFigure } from './figure.js';
import { linkMapFigure } from './link-map.js';
import { questionGrid } from './question-grid.js';
import { Plot, rowLayout } from './rows.js';
import { sequenceFigure } from './sequence.js';
import { waterfallFigure } from './waterfall.js';

/**
 * One run.
 *
 * @param {import('../run/run-view.ts').RunView} view
 * @param {number} number
 * @param {boolean} isTitled its title is that of the page
 */
export function runSection(view, number, isTitled) {
  const { name, id, title, facts, alarm, warnings, bytes, time, hops, answers, tasks, links } = view;
  return element(
    'section',
    { id: `run-${number}` },
    isTitled
      ? element('h2', {}, `${name} · ${id}`)
      : element('h2', {}, element('span', { class: 'kicker' }, `${name} · ${id}`), title),
    alarm === null ? null : element('p', { class: 'alarm', role: 'alert' }, alarm),
    ...warnings.map((warning) => element('p', { class: 'alarm' }, `Warning: ${warning}`)),
    element(
      'dl',
      {},
      ...facts.map((fact) => element('div', {}, element('dt', {}, fact.name), element('dd', {}, fact.value))),
    ),
    answers === null ? null : questionGrid(answers),
    tasks === null
      ? element(
          'p',
          { class: 'note' },
          'This run was too long to be recorded, so there are no packets to look into.',
        )
      : sequenceFigure(tasks),
    waterfallFigure(bytes),
    time === null ? null : timeSplitFigure(time),
    hops === null
      ? element(
          'p',
          { class: 'note' },
          'Each step was taken too few times to draw a distribution of its latency: run a batch of tasks for that.',
        )
      : distributionsFigure(
          hops,
          'Each tick is one packet, from the moment the packet that caused it was at the hub until it was there itself.',
        ),
    links === null ? null : linkMapFigure(links),
  );
}

/** @typedef {import('../run/time-view.ts').TimeView} TimeView */

/**
 * Renders the parts of the time, one bar each.
 *
 * @param {TimeView} view
 * /
 */
function timeSplitFigure({ finding, caption, parts, table }) {
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
