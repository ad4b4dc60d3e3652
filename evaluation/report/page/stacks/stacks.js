import { drawRatios } from '../comparison/comparison.js';
import { measureAgain } from '../comparison/measure-again.js';
import { panelsFigure } from '../comparison/panels.js';
import { createChoice, element } from '../dom.js';
import { chartFigure, createTable, section } from '../figure.js';
import { densitiesFigure } from './densities.js';
import { NAME_ROOM, stackedFigure } from './stacked.js';

/** @typedef {import('../../stacks/stacks-view.ts').StacksView} StacksView */

/**
 * Renders the costs of real stacks on the same exchanges, one section for each question.
 *
 * @param {StacksView} view
 * /
 */
export function drawStackSections(view) {
  const { latency, curves, throughput, sizes, growth, rounds } = view;
  const sections = [
    section(
      'pairs',
      'Pairs',
      'Each against the first',
      element('p', { class: 'lead' }, view.made),
      ...view.warnings.map((warning) => element('p', { class: 'alarm' }, `Warning: ${warning}.`)),
      ...view.failed.map((what) => element('p', { class: 'alarm' }, `Failed: ${what}.`)),
      view.pairs.figures.length === 0
        ? element('p', { class: 'note' }, 'There is no pair to compare.')
        : pairsFigure(view),
      ...view.absent.map((what) => element('p', { class: 'note' }, `Not measured: ${what}.`)),
    ),
    view.attribution === null
      ? null
      : section(
          'why',
          'Why',
          'What makes the difference',
          stackedFigure(view.attribution, 'Shares of differences'),
        ),
    section('bytes', 'Bytes', 'Bytes, layer by layer', stackedFigure(view.bytes, 'Bytes of an exchange')),
    section(
      'latency',
      'Latency',
      'How long an exchange takes',
      latency === null
        ? element('p', { class: 'note' }, 'No stack kept up with the rate, so there are no times to draw.')
        : densitiesFigure(latency),
      sizes === null ? null : panelsFigure(sizes, 'Latency by size'),
    ),
    curves === null && throughput === null
      ? null
      : section(
          'load',
          'Load',
          'What it bears',
          curves === null ? null : panelsFigure(curves, 'Latency by load'),
          throughput === null ? null : panelsFigure(throughput, 'Throughput by concurrency'),
        ),
    section(
      'cpu',
      'CPU, memory',
      'What it costs the machine',
      stackedFigure(view.cpu, 'CPU time of an exchange'),
      growth === null ? null : panelsFigure(growth, 'Memory as a task grows'),
    ),
    section('setup', 'Set-up', 'Before the first exchange', stackedFigure(view.setup, 'Bytes of the set-up')),
    section(
      'tokens',
      'Tokens',
      'Tokens that a model reads',
      element('p', { class: 'lead' }, view.tokens.note),
      ...view.tokens.tables.map((table) =>
        element('div', { class: 'block' }, createTable(table, table.columns[0]?.title ?? 'Tokens')),
      ),
    ),
    disagreeSection(view, rounds),
  ];
  return sections.filter((one) => one !== null);
}

/**
 * @param {StacksView} view
 * @param {StacksView['rounds']} rounds
 */
function disagreeSection(view, rounds) {
  return section(
    'disagree',
    'Disagree',
    'How to disagree',
    ...measureAgain(view, 'comparison.json'),
    rounds === null ? null : panelsFigure(rounds, 'Rounds over time'),
    element('h3', { class: 'apart' }, 'What these numbers cannot tell'),
    element('ul', { class: 'limits' }, ...view.limits.map((limit) => element('li', {}, limit))),
  );
}

/**
 * A dot with its interval for each pair, in one of the figures that have verdicts.
 *
 * @param {StacksView} view
 */
function pairsFigure({ pairs, nullTest }) {
  const { figures, equal, baseline } = pairs;
  const parts = figures.map(
    ({ finding, name, ratios, table }) =>
      chartFigure({
        finding,
        caption: [
          `Each against ${baseline}: ratio of the ${name} and its 95 % interval, on a logarithmic scale, in the order in which they were asked for. ${ratios.some(({ high }) => high === null) ? 'A line from end to end is no interval: there are too few invocations for one. ' : ''}In the band (${equal.text}) ratios count as equal. “Detects” in the table is the smallest ratio, or its inverse, that so many invocations call in four of five measurements; “would tell” is how many invocations a verdict would take. ${nullTest}.`,
        ],
        table,
        draw: (width) => drawRatios(ratios, equal, width, NAME_ROOM),
      }).figure,
  );
  return figuresByChoice(
    'Figure shown',
    figures.map(({ name }) => name),
    parts,
  );
}

/**
 * Figures of which one is shown on a screen, and all are printed.
 *
 * @param {string} label
 * @param {readonly string[]} names
 * @param {readonly HTMLElement[]} figures
 */
function figuresByChoice(label, names, figures) {
  const show = (/** @type {number} */ chosen) => {
    for (const [index, figure] of figures.entries()) figure.classList.toggle('put-away', index !== chosen);
  };
  show(0);
  return element(
    'div',
    { class: 'figures' },
    figures.length < 2 ? null : createChoice(label, names, show),
    ...figures,
  );
}
