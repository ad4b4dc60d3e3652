import { createChoice, element, tickText } from '../dom.js';
import { chartFigure } from '../figure.js';
import { axisBelow, logTicks, Plot, rowLayout } from '../rows.js';

/** @typedef {import('../../stacks/stacked-view.ts').StackedView} StackedView */

/** Characters of a stack's name with its settings; there is room for so many beside the bars. */
export const NAME_ROOM = 36;

/**
 * Bars of parts, with a mark where the whole is.
 *
 * @param {StackedView} view
 * @param {string} label
 */
export function stackedFigure({ finding, key, choices, scale, caption, table }, label) {
  let chosen = choices[0];
  const names = choices.map(({ name }) => name);
  const { figure, redraw } = chartFigure({
    finding,
    caption: [stackedKey(key), caption],
    table,
    ...(choices.length < 2
      ? {}
      : {
          controls: createChoice(`${label}: what is shown`, names, (index) => {
            chosen = choices[index];
            redraw();
          }),
        }),
    draw: (width) => (chosen === undefined ? element('p') : drawStacked(chosen, scale, width, label)),
  });
  return figure;
}

/**
 * @param {StackedView['choices'][number]} choice
 * @param {StackedView['scale']} scale
 * @param {number} width
 * @param {string} label
 */
function drawStacked({ rows, axis }, scale, width, label) {
  const { marks, grid, line, endMarks, top, bottom, options } = rowLayout(rows, width, NAME_ROOM);
  const parts = rows.flatMap((row, y) => row.parts.map((part) => ({ ...part, y })));
  const ends = rows.map(({ end, label: name, text }, y) => ({ y, x: end, title: `${name}: ${text}` }));
  const isSum = scale === 'sum';
  const all = [...parts.flatMap(({ from, to }) => [from, to]), ...ends.map(({ x }) => x), isSum ? 0 : 1];
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const most = Math.max(3, Math.floor(width / 110));
  const span = [low * 0.96, high * 1.04];
  const ticks = isSum ? most : logTicks(span[0] ?? 1, span[1] ?? 1, most);
  return Plot.plot({
    ...options,
    ariaLabel: `${label}: ${axis}`,
    x: isSum
      ? { label: axis, tickFormat: tickText, ticks: most, nice: true }
      : { type: 'log', domain: span, label: axis },
    marks: [
      grid(ticks),
      typeof ticks === 'number' ? null : axisBelow(ticks, (ratio) => `${tickText(ratio)}×`),
      ...marks,
      Plot.barX(parts, {
        y: 'y',
        x1: 'from',
        x2: 'to',
        fill: (part) => `var(--hue-${part.hue})`,
        fillOpacity: (part) => (part.isSure ? 1 : 0.35),
        insetTop: top,
        insetBottom: bottom,
      }),
      line(isSum ? 0 : 1, 'var(--muted)'),
      endMarks(ends),
      Plot.tip(parts, Plot.pointerY({ y: 'y', x: 'to', title: 'title', maxRadius: 30 })),
    ],
  });
}

/**
 * Each part beside its colour.
 *
 * @param {StackedView['key']} key
 */
function stackedKey(key) {
  return element(
    'span',
    { class: 'key' },
    ...key.map(({ hue, name, what }) =>
      element(
        'span',
        { class: 'key-item' },
        element('span', { class: `swatch hue-${hue}`, 'aria-hidden': 'true' }),
        element('b', {}, name),
        ` ${what}`,
      ),
    ),
  );
}
