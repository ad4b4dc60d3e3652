import { cycleLinesFigure } from './cycle-lines.js';
import { createChoice, element } from './dom.js';
import { createTable, section, tableBlock } from './figure.js';
import { questionGrid } from './question-grid.js';
import { scoreCostFigure } from './score-cost.js';

/**
 * @typedef {import('../gaia/gaia-view.ts').GaiaView} GaiaView
 * @typedef {import('../../terminal/table-view.ts').TableView} TableView
 */

const FEW_CHANGES = 12;

/**
 * Renders the results of teams on the same questions, one section for each part.
 *
 * @param {GaiaView} view
 * @returns {{ id: string, name: string, node: HTMLElement }[]}
 * /
 */
export function gaiaSections(view) {
  const sections = [
    section(
      'teams',
      'Teams',
      'The teams, the same questions',
      element('p', { class: 'lead' }, view.made),
      view.alarm === null ? null : element('p', { class: 'alarm', role: 'alert' }, view.alarm),
      tableBlock(view.score.finding, view.score.table, view.score.note),
      view.pairs === null ? null : tableBlock(view.pairs.finding, view.pairs.table, view.pairs.note),
      view.cost === null ? null : scoreCostFigure(view.cost),
      ...view.taken.map(({ finding, table, note }) => tableBlock(finding, table, note)),
    ),
    section(
      'questions',
      'Questions',
      'Question by question',
      view.groups.length === 0 ? null : groupsFigure(view.groups),
      questionGrid(view.questions),
    ),
    view.cycles === null ? null : cyclesSection(view.cycles),
    view.work.length === 0
      ? null
      : section(
          'work',
          'Failures and tools',
          'What went wrong, and what was asked',
          ...view.work.map(({ heading, table, note }) => tableBlock(heading, table, note)),
        ),
  ];
  return sections.filter((one) => one !== null);
}

/** @param {NonNullable<GaiaView['cycles']>} cycles */
function cyclesSection(cycles) {
  const { changes, passes } = cycles;
  return section(
    'cycles',
    'Cycles',
    'Asked again',
    cycleLinesFigure(cycles),
    changes === null ? null : changesBlock(changes),
    tableBlock(
      'Right at least once, and right every time',
      passes,
      'Of k attempts at a question, estimated from all of them. It supposes that attempts do not learn from each other; for a team that does, the score by cycle is what to read.',
    ),
  );
}

/**
 * Many changes would push all else off the screen: they are there when they are asked for.
 *
 * @param {NonNullable<NonNullable<GaiaView['cycles']>['changes']>} changes
 */
function changesBlock({ finding, table }) {
  return element(
    'div',
    { class: 'block' },
    element('h3', {}, finding),
    element(
      'details',
      table.rows.length <= FEW_CHANGES ? { open: '' } : {},
      element('summary', {}, 'Which, what got worse first'),
      createTable(table, finding),
    ),
    element(
      'p',
      { class: 'note' },
      'A gain in one kind of question does not make up for a loss in another, so each is named.',
    ),
  );
}

/** @typedef {import('../gaia/groups-view.ts').GroupsView} GroupsView */

/**
 * Accuracy by level or kind of question, a column a team; the shade is the accuracy.
 *
 * @param {readonly GroupsView[]} groups
 */
function groupsFigure(groups) {
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
        : createChoice(
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
