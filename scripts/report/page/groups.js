import { choiceOf } from './choice.js';
import { element } from './dom.js';

/** @typedef {import('../gaia/groups-view.ts').GroupsView} GroupsView */

/**
 * Accuracy by level or kind of question, a column a team; the shade is the accuracy.
 *
 * @param {readonly GroupsView[]} groups
 */
export function groupsFigure(groups) {
  const heading = element('h3', {});
  const place = element('div', {});
  const show = (/** @type {number} */ index) => {
    const view = groups[index];
    if (view === undefined) return;
    heading.textContent = view.finding;
    place.replaceChildren(groupsTable(view));
  };
  show(0);
  return element(
    'figure',
    {},
    element(
      'div',
      { class: 'heading' },
      heading,
      groups.length < 2
        ? null
        : choiceOf(
            'Questions grouped by',
            groups.map(({ name }) => name),
            show,
          ),
    ),
    place,
    element(
      'figcaption',
      {},
      'Right answers of first attempts, with the 95 % interval of the accuracy below; a stronger shade is a higher accuracy. Groups of a few questions tell little: look at the interval.',
    ),
  );
}

/** @param {GroupsView} view */
function groupsTable({ teams, rows, finding }) {
  return element(
    'div',
    { class: 'scroll', role: 'region', tabindex: '0', 'aria-label': finding },
    element(
      'table',
      { class: 'groups' },
      element(
        'thead',
        {},
        element(
          'tr',
          {},
          element('th', { scope: 'col' }, ''),
          ...teams.map((team) => element('th', { scope: 'col' }, team)),
        ),
      ),
      element(
        'tbody',
        {},
        ...rows.map(({ label, cells }) =>
          element(
            'tr',
            {},
            element('th', { scope: 'row' }, label),
            ...cells.map(({ text, note, tenths }) =>
              element(
                'td',
                tenths === null ? {} : { class: `shade-${tenths}` },
                text,
                element('span', { class: 'range' }, note),
              ),
            ),
          ),
        ),
      ),
    ),
  );
}
