import { createChoice, element, tickText } from './dom.js';
import { chartFigure } from './figure.js';
import { Plot, rowLayout } from './rows.js';

/**
 * @typedef {import('../run/byte-waterfall.ts').BytesView} BytesView
 * @typedef {import('../run/byte-waterfall.ts').ByteWaterfall} ByteWaterfall
 */

/** Parts in the order of the ledger, as they are called and what they are. */
const PARTS = [
  ['payload', 'payload', 'what the agents said, as JSON'],
  ['envelope', 'envelope', 'who, to whom, which task'],
  ['framing', 'framing', 'the length in front'],
  ['payload_coding', 'coding', 'what the format adds to the payload'],
  ['layers', 'layers', 'what signature, encryption and checksum add'],
];

/** Legend of the hatched bars. */
const SAVINGS = [
  ['payload_coding', 'coding', 'what the format saves of the payload'],
  ['layers', 'layers', 'what compression saves'],
];

/**
 * Renders the parts of the bytes, one row for each adapter or packet type.
 *
 * @param {BytesView} view
 * /
 */
export function waterfallFigure({ finding, waterfalls, table }) {
  let isBeyond = false;
  const controls = createChoice('Bytes shown', ['all bytes', 'beyond the payload'], (index) => {
    isBeyond = index === 1;
    redraw();
  });
  const unexplained = waterfalls.filter((one) => one.unexplained !== 0).map(({ label }) => label);
  const { figure, redraw } = chartFigure({
    finding,
    caption: [
      partKey(waterfalls),
      waterfalls.some(({ steps }) => steps.some(({ from, to }) => to < from))
        ? 'Hatched bytes were saved: they run back to the mark, which is what was on the wire. Every byte is on one line of the ledger.'
        : 'The mark is what was on the wire. Every byte is on one line of the ledger.',
      unexplained.length === 0
        ? null
        : element('strong', {}, ` The parts do not add up for ${unexplained.join(', ')}.`),
    ],
    table,
    controls,
    draw: (width) => drawWaterfalls(waterfalls, isBeyond, width),
  });
  return figure;
}

/**
 * @param {readonly ByteWaterfall[]} waterfalls
 * @param {boolean} isBeyond
 * @param {number} width
 */
function drawWaterfalls(waterfalls, isBeyond, width) {
  const rows = waterfalls.map(({ label, text, netText }) => ({ label, text: isBeyond ? netText : text }));
  const { marks, grid, line, endMarks, top, bottom, options } = rowLayout(rows, width);
  const steps = waterfalls.flatMap((one, y) =>
    one.steps
      .filter(({ part }) => !(isBeyond && part === 'payload'))
      .map(({ part, from, to, text }) => {
        const shift = isBeyond ? one.payload : 0;
        return { y, part, from: from - shift, to: to - shift, title: `${one.label}: ${text}` };
      }),
  );
  const added = steps.filter(({ from, to }) => to > from);
  const saved = steps.filter(({ from, to }) => to < from);
  const ends = waterfalls.map(({ wire, payload }, y) => ({ y, x: isBeyond ? wire - payload : wire }));
  const bar = { y: 'y', x1: 'from', x2: 'to' };
  const lane = saved.length > 0 ? 5 : 0;
  return Plot.plot({
    ...options,
    ariaLabel: isBeyond ? 'Bytes beyond the payload, by part' : 'Bytes on the wire, by part',
    x: {
      label: isBeyond ? 'bytes beyond the payload' : 'bytes',
      tickFormat: tickText,
      ticks: width / 110,
      nice: true,
    },
    marks: [
      grid(width / 110),
      ...marks,
      Plot.barX(added, {
        ...bar,
        fill: (step) => `var(--part-${step.part})`,
        insetTop: top,
        insetBottom: bottom + lane,
      }),
      Plot.barX(saved, {
        ...bar,
        fill: (step) => `url(#saved-${step.part})`,
        insetTop: top + 11,
        insetBottom: bottom - 1,
      }),
      line(0, 'var(--muted)'),
      endMarks(ends),
      Plot.tip(steps, Plot.pointerY({ y: 'y', x: 'to', title: 'title', maxRadius: 30 })),
    ],
  });
}

/**
 * The parts that there are, each beside its colour.
 *
 * @param {readonly ByteWaterfall[]} waterfalls
 */
function partKey(waterfalls) {
  const steps = waterfalls.flatMap((one) => one.steps);
  const added = PARTS.filter(([part]) => steps.some((step) => step.part === part && step.to > step.from));
  const items = added.map(([part = '', name = '', what = '']) => keyItem(part, name, what));
  const saved = SAVINGS.filter(([part]) => steps.some((step) => step.part === part && step.to < step.from));
  items.push(...saved.map(([part = '', name = '', what = '']) => keyItem(`saved-${part}`, name, what)));
  return element('span', { class: 'key' }, ...items);
}

/**
 * @param {string} part
 * @param {string} name
 * @param {string} what
 */
function keyItem(part, name, what) {
  return element(
    'span',
    { class: 'key-item' },
    element('span', { class: `swatch ${part}`, 'aria-hidden': 'true' }),
    element('b', {}, name),
    ` ${what}`,
  );
}
