import { createChoice, numberText, tickText } from './dom.js';
import { chartFigure } from './figure.js';
import { CHARACTER, Plot } from './rows.js';

/** @typedef {import('../run/links-view.ts').LinksView} LinksView */

/** A column that has room for the beginning of a name. */
const SPACIOUS = 60;

/**
 * Renders the bytes that each node delivered to each other node.
 *
 * @param {LinksView} view
 * /
 */
export function linkMapFigure({ finding, nodes, links, nodesLeft, table }) {
  /** @type {'bytes' | 'packets'} */
  let unit = 'bytes';
  const controls = createChoice('Counted', ['bytes', 'packets'], (index) => {
    unit = index === 0 ? 'bytes' : 'packets';
    redraw();
  });
  const left = nodesLeft === 0 ? '' : ` ${nodesLeft} nodes with fewer bytes are left out.`;
  const { figure, redraw } = chartFigure({
    finding,
    caption: [
      `From the left to the top, copies included: a packet for everybody is delivered once to each other agent.${left}`,
    ],
    table,
    controls,
    draw: (width) => drawLinks(nodes, links, unit, width),
  });
  return figure;
}

/**
 * @param {LinksView['nodes']} nodes
 * @param {LinksView['links']} links
 * @param {'bytes' | 'packets'} unit
 * @param {number} width
 */
function drawLinks(nodes, links, unit, width) {
  const labels = new Map(nodes.map(({ id, label }) => [id, label]));
  const froms = nodes.filter(({ id }) => links.some(({ from }) => from === id)).map(({ id }) => id);
  const tos = nodes.filter(({ id }) => links.some(({ to }) => to === id)).map(({ id }) => id);
  const longest = nodes.reduce((most, { label }) => Math.max(most, label.length), 0);
  const marginLeft = Math.min(width / 3, 20 + longest * CHARACTER);
  const size = Math.min(140, (width - marginLeft) / tos.length);
  const most = links.reduce((max, link) => Math.max(max, link[unit]), 1);
  const cells = links.map((link) => ({
    ...link,
    share: link[unit] / most,
    title: `${labels.get(link.from)} → ${labels.get(link.to)}\n${numberText(link.bytes)} B in ${numberText(link.packets)} packet${link.packets === 1 ? '' : 's'}`,
  }));
  /** As much of a node's name as there is room for, its id first. */
  const named = (/** @type {string} */ id, /** @type {number} */ room) => {
    const label = labels.get(id) ?? id;
    const characters = Math.max(2, Math.floor(room / CHARACTER));
    if (label.length <= characters) return label;
    return id.length <= characters && room < SPACIOUS ? id : `${label.slice(0, characters - 1)}…`;
  };
  const stride = Math.ceil(24 / size);
  const height = Math.min(56, Math.max(28, size));
  return Plot.plot({
    className: 'chart',
    ariaLabel: `Links between nodes by ${unit}`,
    width: marginLeft + size * tos.length,
    height: height * froms.length + 40,
    marginLeft,
    marginTop: 36,
    marginRight: 0,
    marginBottom: 4,
    x: {
      domain: tos,
      axis: 'top',
      label: null,
      ticks: tos.filter((_, index) => index % stride === 0),
      tickFormat: (id) => named(id, size * stride),
      tickSize: 0,
      padding: 0.04,
    },
    y: {
      domain: froms,
      label: null,
      tickFormat: (id) => named(id, marginLeft - 12),
      tickSize: 0,
      padding: 0.06,
    },
    opacity: { type: 'identity' },
    marks: [
      Plot.cell(
        froms.flatMap((from) => tos.map((to) => ({ from, to }))),
        { x: 'to', y: 'from', fill: 'var(--sunken)', rx: 3 },
      ),
      Plot.cell(cells, {
        x: 'to',
        y: 'from',
        fill: 'var(--accent)',
        fillOpacity: (cell) => 0.12 + 0.88 * cell.share,
        rx: 3,
      }),
      // Cells without room for a figure have a colour only; pointer and table show all figures.
      Plot.text(size < 36 ? [] : cells, {
        x: 'to',
        y: 'from',
        text: (cell) => (size < 52 ? tickText(cell[unit]) : numberText(cell[unit])),
        fill: (cell) =>
          cell.share > 0.8 ? 'var(--on-accent)' : cell.share > 0.6 ? 'var(--on-half)' : 'var(--ink)',
      }),
      Plot.tip(cells, Plot.pointer({ x: 'to', y: 'from', title: 'title' })),
    ],
  });
}
