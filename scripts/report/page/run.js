import { distributionsFigure } from './distributions.js';
import { element } from './dom.js';
import { linkMapFigure } from './link-map.js';
import { sequenceFigure } from './sequence.js';
import { timeSplitFigure } from './time-split.js';
import { waterfallFigure } from './waterfall.js';

/**
 * One run.
 *
 * @param {import('../run-view.ts').RunView} view
 * @param {number} number
 * @param {boolean} isTitled its title is that of the page
 */
export function runSection(view, number, isTitled) {
  const { name, id, title, facts, alarm, bytes, time, hops, tasks, links } = view;
  return element(
    'section',
    { id: `run-${number}` },
    isTitled
      ? element('h2', {}, `${name} · ${id}`)
      : element('h2', {}, element('span', { class: 'kicker' }, `${name} · ${id}`), title),
    alarm === null ? null : element('p', { class: 'alarm', role: 'alert' }, alarm),
    element(
      'dl',
      {},
      ...facts.map((fact) => element('div', {}, element('dt', {}, fact.name), element('dd', {}, fact.value))),
    ),
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
