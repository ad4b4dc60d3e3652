import { listAttempts, marksKey, markWord, renderMark } from './attempts.js';
import { element, numberText } from './dom.js';

/**
 * @typedef {import('../gaia/questions-view.ts').QuestionsView} QuestionsView
 * @typedef {import('../gaia/questions-view.ts').QuestionView} QuestionView
 */

/** Rows that are drawn at once: thousands would make every click slow. */
const ROWS_AT_ONCE = 100;

/** Filters by the marks of a question in the shown cycle. */
const FILTERS = /** @type {const} */ ([
  ['all questions', () => true],
  ['teams differ', (/** @type {string} */ marks) => /r/i.test(marks) && /[wft]/i.test(marks)],
  ['nobody is right', (/** @type {string} */ marks) => !/r/i.test(marks)],
  ['somebody failed or ran out of time', (/** @type {string} */ marks) => /[ft]/i.test(marks)],
  ['from a cache', (/** @type {string} */ marks) => /[A-Z]/.test(marks)],
  ['not asked', (/** @type {string} */ marks) => marks.includes('-')],
]);
const FILTERS_OF_ONE_TEAM = /** @type {const} */ ([
  ['all questions', () => true],
  ['wrong', (/** @type {string} */ marks) => /w/i.test(marks)],
  ['right', (/** @type {string} */ marks) => /r/i.test(marks)],
  ['failed or out of time', (/** @type {string} */ marks) => /[ft]/i.test(marks)],
  ['from a cache', (/** @type {string} */ marks) => /[A-Z]/.test(marks)],
]);

/**
 * Questions down, teams across; a question opens to what every team made of it.
 *
 * @param {QuestionsView} view
 */
export function questionGrid(view) {
  const { teams, cycles, questions, notes } = view;
  const filters = teams.length === 1 ? FILTERS_OF_ONE_TEAM : FILTERS;
  const state = { cycle: 0, filter: 0, words: '', rows: ROWS_AT_ONCE };
  const list = element('ol', {});
  const status = element('p', { class: 'note', role: 'status' });
  const more = element('button', { type: 'button', class: 'more' }, '');
  const show = () => {
    const found = questions.filter((question) => isWanted(question, filters, state));
    const drawn = found.slice(0, state.rows);
    list.replaceChildren(...drawn.map((question) => questionRow(question, teams, state.cycle)));
    status.textContent =
      found.length === questions.length
        ? `${numberText(found.length)} questions`
        : `${numberText(found.length)} of ${numberText(questions.length)} questions`;
    more.hidden = drawn.length === found.length;
    more.textContent = `Show ${numberText(Math.min(ROWS_AT_ONCE, found.length - drawn.length))} more`;
  };
  more.addEventListener('click', () => {
    state.rows += ROWS_AT_ONCE;
    const next = list.children.length;
    show();
    list.children[next]?.querySelector('button')?.focus();
  });
  const change = (/** @type {Partial<typeof state>} */ what) => {
    Object.assign(state, what, { rows: ROWS_AT_ONCE });
    show();
  };
  show();
  const grid = element(
    'figure',
    { class: 'grid' },
    element(
      'div',
      { class: 'heading' },
      element(
        'h3',
        {},
        teams.length === 1
          ? 'Open a question to read its answer'
          : 'Open a question to read it, and what each team made of it',
      ),
      element(
        'div',
        { class: 'controls' },
        chooser(
          'Show',
          filters.map(([name]) => name),
          (filter) => change({ filter }),
        ),
        cycles < 2
          ? null
          : chooser(
              'Cycle',
              Array.from({ length: cycles }, (_, index) =>
                index === 0 ? '1 (first attempts)' : `${index + 1}`,
              ),
              (cycle) => change({ cycle }),
            ),
        searchField((words) => change({ words })),
      ),
    ),
    marksKey(),
    element(
      'div',
      { class: 'grid-head', 'aria-hidden': 'true' },
      element('span', {}),
      ...teams.map((team) => element('span', {}, team)),
    ),
    list,
    more,
    status,
    notes.length === 0 ? null : element('figcaption', {}, notes.join(' ')),
  );
  grid.style.setProperty('--teams', String(teams.length));
  return grid;
}

/**
 * @param {QuestionView} question
 * @param {typeof FILTERS | typeof FILTERS_OF_ONE_TEAM} filters
 * @param {{ cycle: number, filter: number, words: string }} state
 */
function isWanted({ id, level, kind, file, text, marks }, filters, { cycle, filter, words }) {
  const [, fits] = filters[filter] ?? filters[0];
  if (!fits(marks[cycle] ?? '')) return false;
  const all = `${id} level ${level ?? ''} ${kind} ${file ?? ''} ${text}`.toLowerCase();
  return words.split(/\s+/).every((word) => all.includes(word));
}

/**
 * @param {string} label
 * @param {readonly string[]} names
 * @param {(index: number) => void} onChoice
 */
function chooser(label, names, onChoice) {
  const select = element(
    'select',
    {},
    ...names.map((name, index) => element('option', { value: String(index) }, name)),
  );
  select.addEventListener('change', () => onChoice(Number(select.value)));
  return element('label', { class: 'chooser' }, `${label} `, select);
}

/** @param {(words: string) => void} onWords */
function searchField(onWords) {
  const input = element('input', { type: 'search', placeholder: 'words of it, or its id' });
  input.addEventListener('input', () => onWords(input.value.trim().toLowerCase()));
  return element('label', { class: 'chooser' }, 'Find ', input);
}

/**
 * @param {QuestionView} question
 * @param {readonly string[]} teams
 * @param {number} cycle
 */
function questionRow(question, teams, cycle) {
  const marks = [...(question.marks[cycle] ?? '')];
  const about = [question.level === null ? null : `level ${question.level}`, question.kind, question.file]
    .filter((part) => part !== null && part !== '')
    .join(' · ');
  const words = teams.map((team, index) => `${team} ${markWord(marks[index])}`).join(', ');
  const button = element(
    'button',
    {
      type: 'button',
      class: 'question-row',
      'aria-expanded': 'false',
      'aria-label': `${question.text.slice(0, 300)} (${about}): ${words}`,
    },
    element(
      'span',
      { class: 'asked' },
      element('span', { class: 'about' }, about),
      element('span', { class: 'words' }, question.text),
    ),
    ...teams.map((team, index) =>
      renderMark(marks[index], `${team}: ${markWord(marks[index])}`, String(index)),
    ),
  );
  const item = element('li', {}, button);
  /** @type {Element | undefined} */
  let detail;
  button.addEventListener('click', ({ target }) => {
    const clicked = target instanceof Element ? target.closest('[data-team]') : null;
    const team = clicked === null ? null : Number(clicked.getAttribute('data-team'));
    const isOpen = detail?.isConnected ?? false;
    detail?.remove();
    // A click on a team's mark of an open question goes on to that team.
    if (isOpen && (team === null || detail?.getAttribute('data-chosen') === String(team))) {
      button.setAttribute('aria-expanded', 'false');
      return;
    }
    button.setAttribute('aria-expanded', 'true');
    detail = listAttempts(question, teams, cycle, team);
    item.append(detail);
  });
  return item;
}
