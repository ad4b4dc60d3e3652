/**
 * Globals of the earlier scripts: Observable Plot, and the parts of D3 that are used directly.
 *
 * @typedef {{ ticks(start: number, stop: number, count: number): number[] }} D3
 * /
 */
const globals = /** @type {{ Plot: typeof import('@observablehq/plot'), d3: D3 }} */ (
  /** @type {unknown} */ (globalThis)
);

export const { Plot } = globals;

/** Below this width labels stand above their bars instead of beside them. */
const NARROW = 600;
/** Width of a character, rather too wide: fonts differ. */
export const CHARACTER = 7.8;

/**
 * The frame of a chart of rows: where labels and figures stand, and how much of a row is left for what is drawn.
 *
 * @param {readonly { label: string, text: string, isQuiet?: boolean }[]} rows
 * @param {number} width
 * @param {number} [nameRoom] characters of a label that stand beside its bar
 */
export function rowLayout(rows, width, nameRoom = 28) {
  const isNarrow = width < NARROW;
  const longest = (/** @type {readonly string[]} */ texts) =>
    texts.reduce((most, text) => Math.max(most, text.length), 0);
  const marginLeft = isNarrow
    ? 6
    : Math.min(22 + CHARACTER * nameRoom, 16 + CHARACTER * longest(rows.map(({ label }) => label)));
  const marginRight = isNarrow ? 10 : 16 + CHARACTER * longest(rows.map(({ text }) => text));
  const rowHeight = isNarrow ? 46 : 32;
  const room = isNarrow ? Math.floor(width / CHARACTER) : nameRoom;
  const places = rows.map((row, y) => ({ ...row, y }));
  const dy = isNarrow ? -12 : 0;
  // Under labels that stand within the frame lines would run through the words.
  const grid = (/** @type {number[] | number} */ ticks) =>
    isNarrow ? null : Plot.gridX({ ticks, stroke: 'var(--rule)', strokeOpacity: 1 });
  const marks = [
    Plot.text(places, {
      y: 'y',
      text: (row) => cut(row.label, isNarrow ? room - row.text.length - 2 : room),
      title: 'label',
      frameAnchor: 'left',
      textAnchor: 'start',
      dx: isNarrow ? 0 : -marginLeft + 2,
      dy,
    }),
    Plot.text(places, {
      y: 'y',
      text: 'text',
      frameAnchor: 'right',
      textAnchor: isNarrow ? 'end' : 'start',
      dx: isNarrow ? 0 : 12,
      dy,
      fill: (row) => (row.isQuiet ? 'var(--muted)' : 'var(--ink)'),
    }),
  ];
  return {
    isNarrow,
    grid,
    marks,
    /** A line at `x` through what is drawn in each row. */
    line: (/** @type {number} */ x, /** @type {string} */ stroke) =>
      Plot.tickX(places, { x: () => x, y: 'y', stroke, insetTop: isNarrow ? 22 : 0, insetBottom: 0 }),
    /** Marks where each bar ends, at `x` of row `y`. */
    endMarks: (/** @type {readonly { x: number, y: number }[]} */ ends) =>
      Plot.tickX(ends, {
        x: 'x',
        y: 'y',
        stroke: 'var(--ink)',
        strokeWidth: 2,
        insetTop: (isNarrow ? 22 : 8) - 3,
        insetBottom: 5,
      }),
    /** Insets of what is drawn in a row: below the label where that stands above. */
    top: isNarrow ? 22 : 8,
    bottom: 8,
    options: {
      width,
      height: rows.length * rowHeight + 46,
      marginLeft,
      marginRight,
      marginTop: 6,
      marginBottom: 40,
      className: 'chart',
      y: { domain: places.map(({ y }) => y), axis: null, padding: 0, type: /** @type {const} */ ('band') },
    },
  };
}

/**
 * @param {string} text
 * @param {number} length
 */
export function cut(text, length) {
  return text.length <= length ? text : `${text.slice(0, Math.max(1, length - 1))}…`;
}

/**
 * @param {number} low
 * @param {number} high
 * @param {number} most
 */
export function evenTicks(low, high, most) {
  return globals.d3.ticks(low, high, most);
}

/**
 * The axis below a chart with these ticks, every one of them with its number: on a logarithmic scale Plot would leave some of them out.
 *
 * @param {number[]} ticks
 * @param {(value: number) => string} format
 */
export function axisBelow(ticks, format) {
  return Plot.axisX(ticks, { text: (/** @type {number} */ value) => format(value) });
}

/**
 * Returns the position at the left of the chart.
 *
 * @param {number[]} ticks
 * @param {(value: number) => string} format
 * /
 */
export function axisBeside(ticks, format) {
  return Plot.axisY(ticks, { text: (/** @type {number} */ value) => format(value) });
}

/**
 * A logarithmic axis of ratios, with round numbers of times below it.
 *
 * @param {number} low
 * @param {number} high
 * @param {number} width of the chart
 * @param {string} label
 */
export function ratioAxis(low, high, width, label) {
  const ticks = logTicks(low, high, Math.max(3, Math.floor(width / 64)));
  return {
    type: /** @type {const} */ ('log'),
    domain: [low, high],
    label,
    ticks,
    tickFormat: (/** @type {number} */ ratio) => `${ratio}×`,
  };
}

/** From nothing right to all of it. */
export const ACCURACY_AXIS = {
  domain: [0, 1],
  label: 'accuracy',
  ticks: [0, 0.2, 0.4, 0.6, 0.8, 1],
  tickFormat: (/** @type {number} */ share) => `${Math.round(share * 100)} %`,
};

const STEPS = [1, 2, 5];

/**
 * Round numbers on a logarithmic axis: 1, 2, 5, 10, … and on a short one evenly spaced.
 *
 * @param {number} low
 * @param {number} high
 * @param {number} most
 */
export function logTicks(low, high, most) {
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
    for (const step of STEPS) {
      const tick = Number((step * 10 ** power).toPrecision(1));
      if (tick >= low && tick <= high) ticks.push(tick);
    }
  }
  if (ticks.length < 3) return evenTicks(low, high, Math.min(5, most));
  const stride = Math.ceil(ticks.length / most);
  return ticks.filter((_, index) => index % stride === 0);
}
