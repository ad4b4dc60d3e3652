import { element } from '../dom.js';

/**
 * The list of what is in a folder of results; each has a page of its own.
 *
 * @param {import('../../watch-html.ts').FolderPlace} given
 */
export function folderPage({ title, items, left, version }) {
  document.title = `${title} · Gaia Mesh`;
  const leftOut = left.length === 0 ? '' : ` Left out: ${left.join('; ')}.`;
  const status = `${items.length} runs, batches and comparisons.${leftOut}`;
  document
    .getElementById('report')
    ?.append(
      element(
        'header',
        {},
        element('p', { class: 'wordmark' }, 'Gaia Mesh'),
        element('h1', {}, title),
        element('p', { class: 'status' }, status),
      ),
      element('main', { class: 'watch' }, element('div', { class: 'scroll' }, itemsTable(items))),
      element('footer', {}, `Gaia Mesh ${version}. Nothing leaves this machine.`),
    );
}

/** @param {import('../../watch-html.ts').FolderPlace['items']} items */
function itemsTable(items) {
  const rows = items.map(({ id, kind, place, title, facts, modifiedMs }) => {
    const when = new Date(modifiedMs).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' });
    return element(
      'tr',
      {},
      element('th', { scope: 'row' }, element('a', { href: `item/${id}/` }, place)),
      ...[kind, when, title, facts].map((part) => element('td', {}, part)),
    );
  });
  const head = ['file', 'kind', 'when', 'what', 'came to'].map((name) =>
    element('th', { scope: 'col' }, name),
  );
  return element(
    'table',
    { class: 'items' },
    element('thead', {}, element('tr', {}, ...head)),
    element('tbody', {}, ...rows),
  );
}
