import { element } from '../dom.js';
import { tableOf } from '../figure.js';
import { versusSection } from '../versus.js';
import { askServer } from './opened.js';

/**
 * @typedef {import('../../../history/folder-view.ts').ListedItem} ListedItem
 * @typedef {import('../../../history/folder-view.ts').ItemsCompared} ItemsCompared
 * @typedef {import('../../../history/folder-view.ts').Search} Search
 */

/**
 * A folder of results: what is there, two of it side by side, and a search.
 *
 * @param {import('../../watch-html.ts').WatchPlace} given
 */
export function folderPage({ title, version }) {
  document.title = `${title} · Gaia Mesh`;
  const status = element('p', { class: 'status' });
  const list = element('div', { class: 'scroll' });
  const compared = element('section', { class: 'compared', 'aria-live': 'polite' });
  const compare = element('button', { type: 'button' }, 'Compare');
  const how = element('span', { class: 'note' });
  const text = element('input', { type: 'search', maxlength: '200', 'aria-label': 'Text to find' });
  const find = element('form', { class: 'find', role: 'search' }, text, element('button', {}, 'Find'));
  const found = element('section', { class: 'found', 'aria-live': 'polite' });
  const only = element('input', { type: 'search', maxlength: '100', placeholder: 'any text' });
  /** @type {ListedItem[]} */
  let items = [];
  /** @type {string[]} the first is what the second is set against */
  let chosen = [];

  const draw = () => {
    const low = only.value.toLowerCase();
    const shown = items.filter(({ place, title: name, facts, kind }) =>
      `${kind} ${place} ${name} ${facts}`.toLowerCase().includes(low),
    );
    list.replaceChildren(itemsTable(shown, chosen, choose));
    const [base, other] = chosen.map((id) => items.find((item) => item.id === id)?.place ?? id);
    compare.disabled = chosen.length !== 2;
    how.textContent =
      base === undefined
        ? 'Choose two of one kind to compare them.'
        : other === undefined
          ? `${base} is chosen; choose what is to be set against it.`
          : `${other} against ${base}`;
  };
  const choose = (/** @type {string} */ id) => {
    chosen = chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen.slice(-1), id];
    draw();
    const box = list.querySelector(`input[value="${id}"]`);
    if (box instanceof HTMLElement) box.focus();
  };
  only.addEventListener('input', draw);
  compare.addEventListener('click', async () => {
    const [base = '', other = ''] = chosen;
    compared.replaceChildren(element('p', { class: 'note' }, 'Comparing …'));
    compared.replaceChildren(
      ...(await answered(async () => comparedNodes(await askServer('compare', { base, other })))),
    );
  });
  find.addEventListener('submit', async (event) => {
    event.preventDefault();
    found.replaceChildren(element('p', { class: 'note' }, 'Looking …'));
    found.replaceChildren(
      ...(await answered(async () => foundNodes(await askServer('find', { text: text.value })))),
    );
  });

  document
    .getElementById('report')
    ?.append(
      element(
        'header',
        {},
        element('p', { class: 'wordmark' }, 'Gaia Mesh'),
        element('h1', {}, title),
        status,
      ),
      element(
        'main',
        { class: 'watch' },
        element('h2', {}, 'Find a packet or a question'),
        find,
        found,
        element('h2', {}, 'Runs and comparisons'),
        element('div', { class: 'find' }, element('label', {}, 'Show ', only), compare, how),
        compared,
        list,
      ),
      element('footer', {}, `Gaia Mesh ${version}. Nothing leaves this machine.`),
    );
  askServer('items')
    .then((answer) => {
      items = answer.items;
      const left = answer.left.length === 0 ? '' : ` Left out: ${answer.left.join('; ')}.`;
      status.textContent = `${items.length} runs, batches and comparisons.${left}`;
      draw();
    })
    .catch((error) => {
      status.textContent = String(error);
    });
}

/**
 * @param {() => Promise<Node[]>} nodesOf
 * @returns {Promise<Node[]>}
 */
async function answered(nodesOf) {
  try {
    return await nodesOf();
  } catch (error) {
    return [element('p', { class: 'alarm' }, String(error))];
  }
}

/**
 * @param {readonly ListedItem[]} items
 * @param {readonly string[]} chosen
 * @param {(id: string) => void} onChoice
 */
function itemsTable(items, chosen, onChoice) {
  const rows = items.map(({ id, kind, place, title, facts, modifiedMs }) => {
    const box = element('input', { type: 'checkbox', value: id, 'aria-label': `Compare ${place}` });
    box.checked = chosen.includes(id);
    box.addEventListener('change', () => onChoice(id));
    const when = new Date(modifiedMs).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' });
    return element(
      'tr',
      {},
      element('td', {}, box),
      element('th', { scope: 'row' }, element('a', { href: `item/${id}/` }, place)),
      ...[kind, when, title, facts].map((part) => element('td', {}, part)),
    );
  });
  const head = ['', 'file', 'kind', 'when', 'what', 'came to'].map((name) =>
    element('th', { scope: 'col' }, name),
  );
  return element(
    'table',
    { class: 'items' },
    element('thead', {}, element('tr', {}, ...head)),
    element('tbody', {}, ...rows),
  );
}

/** @param {ItemsCompared} compared */
function comparedNodes({ title, table, refused, notes, versus }) {
  return [
    element('h3', {}, title),
    ...refused.map((why) => element('p', { class: 'alarm' }, why)),
    ...(table === null ? [] : [element('div', { class: 'scroll' }, tableOf(table, title))]),
    ...notes.map((note) => element('p', { class: 'note' }, note)),
    ...(versus === null ? [] : [versusSection(versus)]),
  ];
}

/** @param {Search} search */
function foundNodes({ found, cut }) {
  const rows = found.map(({ item, place, kind, name, excerpt, hash }) =>
    element(
      'li',
      {},
      element('a', { href: `item/${item}/${hash}` }, `${kind} ${name}`),
      ` in ${place}: `,
      element('span', { class: 'asks' }, excerpt),
    ),
  );
  const said = found.length === 0 ? 'Nothing has it.' : `${found.length} found.`;
  return [
    element('p', { class: 'note' }, cut === null ? said : `${said} There may be more: ${cut}.`),
    element('ul', { class: 'rows' }, ...rows),
  ];
}
