import { cycleLinesFigure } from './cycle-lines.js';
import { element } from './dom.js';
import { groupsFigure } from './groups.js';
import { questionGrid } from './question-grid.js';
import { scoreCostFigure } from './score-cost.js';
import { tableOf } from './table.js';

/**
 * @typedef {import('../gaia/gaia-view.ts').GaiaView} GaiaView
 * @typedef {import('../table-view.ts').TableView} TableView
 */

const FEW_CHANGES = 12;

/**
 * What teams made of the same questions, a section a part.
 *
 * @param {GaiaView} view
 * @returns {{ id: string, name: string, node: HTMLElement }[]}
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
      tableOf(table, finding),
    ),
    element(
      'p',
      { class: 'note' },
      'A gain in one kind of question does not make up for a loss in another, so each is named.',
    ),
  );
}

/**
 * @param {string} id
 * @param {string} name
 * @param {string} heading
 * @param {readonly (import('./dom.js').Child)[]} children
 */
function section(id, name, heading, ...children) {
  return { id, name, node: element('section', { id }, element('h2', {}, heading), ...children) };
}

/**
 * @param {string} finding
 * @param {TableView} table
 * @param {string} note
 */
function tableBlock(finding, table, note) {
  return element(
    'div',
    { class: 'block' },
    element('h3', {}, finding),
    tableOf(table, finding),
    element('p', { class: 'note' }, note),
  );
}
