import { distributionsFigure } from './distributions.js';
import { element } from './dom.js';
import { growthFigure } from './growth.js';
import { tableOf } from './table.js';
import { timeRatiosFigure } from './time-ratios.js';
import { waterfallFigure } from './waterfall.js';

/**
 * What adapters cost on the same packets.
 *
 * @param {import('../comparison-view.ts').ComparisonView} view
 */
export function comparisonSection(view) {
  return element(
    'section',
    { id: 'comparison' },
    element('h2', {}, 'Every adapter, the same packets'),
    element('p', { class: 'lead' }, view.made),
    tableOf(view.table, 'What each adapter costs'),
    element(
      'p',
      { class: 'note' },
      'bytes: all packets, each once. header: what is written beyond the payload’s own content. session: handshakes, keys and books. ',
      'tokens: what a model must read, for formats that are text. coding: encode and decode, per packet. ms: all tasks, without tool time.',
    ),
    waterfallFigure(view.bytes),
    timeRatiosFigure(view),
    view.latency === null
      ? element('p', { class: 'note' }, 'This comparison holds too few rounds to draw their distribution.')
      : distributionsFigure(view.latency, 'Each tick is one round: all packets once through the live mesh.'),
    view.growth === null ? null : growthFigure(view.growth),
  );
}
