import { tickText } from '../dom.js';
import { chartFigure } from '../figure.js';
import { axisBelow, axisBeside, CHARACTER, cut, evenTicks, logTicks, Plot } from '../rows.js';

/**
 * @typedef {import('../../panels-view.ts').PanelsView} PanelsView
 * @typedef {PanelsView['panels'][number]} Panel
 */

/** Pixels of a small chart: narrower ones have no room for their axis, and more than four in a row are a wall. */
const PANEL = { least: 230, height: 190, most: 4 };

/**
 * A small chart for each stack, all on the same axes.
 *
 * @param {PanelsView} view
 * @param {string} label
 */
export function panelsFigure(view, label) {
  const { finding, caption, table } = view;
  return chartFigure({
    finding,
    caption: [caption],
    table,
    draw: (width) => drawPanels(view, width, label),
  }).figure;
}

/**
 * @param {PanelsView} view
 * @param {number} width
 * @param {string} label
 */
function drawPanels({ panels, x, y }, width, label) {
  const columns = Math.max(1, Math.min(PANEL.most, panels.length, Math.floor((width - 48) / PANEL.least)));
  const rows = Math.ceil(panels.length / columns);
  const place = (/** @type {number} */ index) => ({ fx: index % columns, fy: Math.floor(index / columns) });
  const placed = (/** @type {(panel: Panel) => readonly Panel['line'][number][]} */ pick) =>
    panels.flatMap((panel, index) => pick(panel).map((point) => ({ ...point, ...place(index) })));
  const [first] = panels;
  const behind = panels.flatMap((_, index) =>
    index === 0 ? [] : (first?.line ?? []).map((point) => ({ ...point, ...place(index) })),
  );
  const lines = placed(({ line }) => line);
  const uppers = placed(({ upper }) => upper);
  const dots = placed(({ dots: own }) => own);
  const titles = panels.map(({ label: name, note }, index) => ({ name, note, ...place(index) }));
  const points = [...lines, ...uppers, ...dots];
  const lost = panels.flatMap((panel, index) => panel.lost.map((at) => ({ x: at, ...place(index) })));
  const knees = panels.flatMap(({ mark }, index) => (mark === null ? [] : [{ x: mark, ...place(index) }]));
  const xs = [...points, ...lost].map((point) => point.x);
  const ys = points.map((point) => point.y);
  const xTicks = x.ticks ?? logTicks(Math.min(...xs), Math.max(...xs), 4);
  const yDomain = y.isLog ? [Math.min(...ys) * 0.85, Math.max(...ys) * 1.2] : [0, Math.max(...ys) * 1.1];
  const [yLow = 0, yHigh = 1] = yDomain;
  const yTicks = y.isLog ? logTicks(yLow, yHigh, 4) : evenTicks(yLow, yHigh, 4);
  const at = { fx: 'fx', fy: 'fy' };
  const title = { ...at, frameAnchor: /** @type {const} */ ('top-left'), fill: 'var(--ink)' };
  const room = Math.floor((width - 60) / columns / (1.1 * CHARACTER));
  return Plot.plot({
    width,
    height: rows * PANEL.height + 98,
    marginLeft: 48,
    marginRight: 12,
    marginTop: 58,
    marginBottom: 40,
    className: 'chart',
    ariaLabel: label,
    fx: { axis: null, paddingInner: 0.1, paddingOuter: 0 },
    fy: { axis: null, paddingInner: 0.34, paddingOuter: 0 },
    x: {
      type: x.isLog ? 'log' : 'linear',
      label: x.label,
      inset: 8,
      domain: [Math.min(...xs), Math.max(...xs)],
    },
    y: {
      type: y.isLog ? 'log' : 'linear',
      domain: yDomain,
      label: null,
    },
    marks: [
      axisBelow([...xTicks], tickText),
      axisBeside(yTicks, tickText),
      Plot.gridY({ ticks: yTicks, stroke: 'var(--rule)', strokeOpacity: 1 }),
      Plot.ruleX(knees, { x: 'x', ...at, stroke: 'var(--muted)', strokeDasharray: '3 3' }),
      Plot.line(behind, { x: 'x', y: 'y', ...at, z: null, stroke: 'var(--muted)', strokeOpacity: 0.6 }),
      Plot.dot(dots, { x: 'x', y: 'y', ...at, r: 1.8, fill: 'var(--accent)', fillOpacity: 0.45 }),
      Plot.line(uppers, { x: 'x', y: 'y', ...at, z: null, stroke: 'var(--accent)', strokeWidth: 1 }),
      Plot.line(lines, { x: 'x', y: 'y', ...at, z: null, stroke: 'var(--accent)', strokeWidth: 2.5 }),
      Plot.dot(lines, { x: 'x', y: 'y', ...at, r: 2.5, fill: 'var(--accent)' }),
      Plot.dot(lost, { x: 'x', ...at, frameAnchor: 'top', symbol: 'times', stroke: 'var(--alarm)', dy: 8 }),
      Plot.text(titles, { ...title, text: ({ name }) => cut(name, room), dy: -28, fontWeight: 600 }),
      Plot.text(titles, { ...title, text: ({ note }) => cut(note, room), dy: -12, fill: 'var(--muted)' }),
      Plot.text([{ fx: 0, fy: 0 }], {
        ...at,
        text: () => `↑ ${y.label}`,
        frameAnchor: 'top-left',
        dx: -46,
        dy: -46,
        fill: 'var(--muted)',
      }),
      Plot.tip(points, Plot.pointer({ x: 'x', y: 'y', ...at, title: 'title' })),
    ],
  });
}
