import { element } from './dom.js';

/**
 * @typedef {import('../gaia/questions-view.ts').QuestionView} QuestionView
 * @typedef {import('../gaia/questions-view.ts').AttemptView} AttemptView
 */

/**
 * A question with its true answer, and what each team made of it in one cycle.
 *
 * @param {QuestionView} question
 * @param {readonly string[]} teams
 * @param {number} cycle
 * @param {number | null} chosen the team whose reasoning is open at once
 */
export function listAttempts(question, teams, cycle, chosen) {
  const { id, text, truth, file, marks, attempts } = question;
  const letters = [...(marks[cycle] ?? '')];
  const facts = [`id ${id}`, ...(file === null ? [] : [`file ${file}`])].join(' · ');
  return element(
    'div',
    { class: 'detail', 'data-chosen': String(chosen) },
    element('p', { class: 'asked-in-full' }, text),
    element(
      'p',
      { class: 'truth' },
      truth === null ? 'The true answer is not known.' : 'True answer: ',
      truth === null ? null : element('b', {}, truth),
    ),
    element('p', { class: 'facts' }, facts),
    ...teams.map((team, index) =>
      renderAttempt(team, letters[index], attempts[cycle]?.[index] ?? null, index === chosen),
    ),
  );
}

/**
 * @param {string} team
 * @param {string | undefined} letter
 * @param {AttemptView | null} attempt
 * @param {boolean} isOpen
 */
function renderAttempt(team, letter, attempt, isOpen) {
  const heading = element(
    'h4',
    {},
    renderMark(letter, ''),
    ` ${team} `,
    element('span', { class: 'quiet' }, markWord(letter)),
  );
  if (attempt === null) {
    const why = letter === '-' || letter === undefined ? null : 'This attempt’s texts are not on the page.';
    return element(
      'section',
      { class: 'attempt' },
      heading,
      why === null ? null : element('p', { class: 'facts' }, why),
    );
  }
  const { answer, reason, took, tools, steps } = attempt;
  return element(
    'section',
    { class: 'attempt' },
    heading,
    element('p', { class: 'answer' }, answer),
    reason === null ? null : element('p', { class: 'facts' }, reason),
    element('p', { class: 'facts' }, took, tools === '' ? '' : ` · tools: ${tools}`),
    steps.length === 0
      ? null
      : element(
          'details',
          isOpen ? { open: '' } : {},
          element(
            'summary',
            {},
            `Reasoning and tool calls of ${team}: ${steps.length} ${steps.length === 1 ? 'step' : 'steps'}`,
          ),
          element(
            'ol',
            { class: 'trace' },
            ...steps.map(({ isTool, text }) => element('li', isTool ? { class: 'tool-step' } : {}, text)),
          ),
        ),
  );
}

/** By the letter of the data: sign, class and word. A letter in upper case is an answer from the cache. */
const MARKS = /** @type {Readonly<Record<string, readonly [sign: string, kind: string, word: string]>>} */ ({
  r: ['✓', 'right', 'right'],
  w: ['✗', 'wrong', 'wrong'],
  f: ['!', 'failed', 'failed'],
  t: ['T', 'late', 'out of time'],
  u: ['?', 'unknown', 'answered, true answer not known'],
  '-': ['·', 'unasked', 'not asked'],
});

/** @param {string | undefined} letter */
function listParts(letter = '-') {
  return MARKS[letter.toLowerCase()] ?? ['·', 'unasked', 'not asked'];
}

/** @param {string | undefined} letter */
function isCached(letter = '-') {
  return letter !== letter.toLowerCase();
}

/** @param {string | undefined} letter */
export function markWord(letter) {
  return `${listParts(letter)[2]}${isCached(letter) ? ', from the cache' : ''}`;
}

/**
 * @param {string | undefined} letter
 * @param {string} title
 * @param {string} [team]
 */
export function renderMark(letter, title, team) {
  const [sign, kind] = listParts(letter);
  return element(
    'span',
    { class: `mark ${kind}`, title, ...(team === undefined ? {} : { 'data-team': team }) },
    sign,
    isCached(letter) ? element('sup', {}, 'c') : null,
  );
}

/** Legend of the signs. */
export function marksKey() {
  return element(
    'p',
    { class: 'key note' },
    ...Object.keys(MARKS).map((letter) =>
      element('span', { class: 'key-item' }, renderMark(letter, ''), ` ${listParts(letter)[2]}`),
    ),
    element('span', { class: 'key-item' }, element('sup', {}, 'c'), ' from the cache'),
  );
}
