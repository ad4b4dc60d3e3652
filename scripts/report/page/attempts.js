import { element } from './dom.js';
import { markOf, markWord } from './marks.js';

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
export function attemptsOf(question, teams, cycle, chosen) {
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
      attemptOf(team, letters[index], attempts[cycle]?.[index] ?? null, index === chosen),
    ),
  );
}

/**
 * @param {string} team
 * @param {string | undefined} letter
 * @param {AttemptView | null} attempt
 * @param {boolean} isOpen
 */
function attemptOf(team, letter, attempt, isOpen) {
  const heading = element(
    'h4',
    {},
    markOf(letter, ''),
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
    element(
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
