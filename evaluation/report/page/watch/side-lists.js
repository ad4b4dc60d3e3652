import { element, numberText } from '../dom.js';
import { clockText } from './packet-list.js';

/**
 * @typedef {import('./state.js').WatchState} WatchState
 * @typedef {import('./state.js').WatchEvent} WatchEvent
 * @typedef {import('./state.js').QuestionEvent} QuestionEvent
 */

/** Rows of a list that are drawn. */
const MAX_SHOWN = 120;

/**
 * Rows that are drawn anew only where they changed, and never while somebody has one in focus.
 *
 * @param {string} label
 */
function lazyList(label) {
  const list = element('ul', { class: 'rows', 'aria-label': label });
  let drawn = '';
  return {
    list,
    /**
     * @param {string} key says all that the rows show
     * @param {() => Node[]} rowsOf
     */
    draw(key, rowsOf) {
      if (key === drawn || list.contains(document.activeElement)) return;
      drawn = key;
      list.replaceChildren(...rowsOf());
    },
  };
}

const AGENT_STATES = { up: 'up', lost: 'gone', waits: 'starting' };

/**
 * @param {{ onFilter: (id: string) => void, onLog: (id: string) => void }} does
 */
export function agentList({ onFilter, onLog }) {
  const { list, draw } = lazyList('Agents');
  return {
    node: list,
    /**
     * @param {WatchState} state
     * @param {string} chosen
     */
    draw({ agents }, chosen) {
      const key = JSON.stringify([chosen, ...agents]);
      draw(key, () =>
        [...agents].map(([id, agent]) => {
          const name = element(
            'button',
            { type: 'button', 'aria-pressed': String(id === chosen), title: `Packets of ${id} only` },
            element('b', {}, id),
            ` ${agent.tool}`,
          );
          name.addEventListener('click', () => onFilter(id === chosen ? '' : id));
          const log = element('button', { type: 'button', 'aria-label': `Log of ${id}` }, 'log');
          log.addEventListener('click', () => onLog(id));
          const counts = `${numberText(agent.packets)} packets, ${bytesText(agent.bytes)}, ${numberText(agent.tokens)} tokens`;
          return element(
            'li',
            { class: `agent ${agent.state}` },
            element('span', { class: 'state' }, AGENT_STATES[agent.state]),
            name,
            log,
            element('span', { class: 'counts', title: agent.text }, counts),
          );
        }),
      );
    },
  };
}

/** @param {(id: string) => void} onOpen */
export function questionList(onOpen) {
  const { list, draw } = lazyList('Questions');
  return {
    node: list,
    /**
     * @param {WatchState} state
     * @param {string} chosen
     * @param {string} text
     */
    draw({ questions }, chosen, text) {
      const low = text.toLowerCase();
      const shown = [...questions.values()]
        .reverse()
        .filter((question) => low === '' || formatItem(question).toLowerCase().includes(low))
        .slice(0, MAX_SHOWN);
      const key = JSON.stringify([
        chosen,
        questions.size,
        shown.map(({ n, state, correct }) => [n, state, correct]),
      ]);
      draw(key, () => shown.map((question) => askedRow(question, chosen, onOpen)));
    },
  };
}

/** @param {QuestionEvent} question */
function formatItem({ id, text, answer, reason }) {
  return `${id} ${text ?? ''} ${answer ?? ''} ${reason ?? ''}`;
}

/**
 * @param {QuestionEvent} question
 * @param {string} chosen
 * @param {(id: string) => void} onOpen
 */
function askedRow(question, chosen, onOpen) {
  const { id, text, answer, reason, seconds } = question;
  const button = element(
    'button',
    { type: 'button', class: 'row', 'aria-pressed': String(id === chosen) },
    element('span', { class: 'state' }, formatVerdict(question)),
    element('b', {}, id),
    element('span', { class: 'asks' }, text ?? ''),
    element('span', { class: 'answer' }, answer ?? reason ?? ''),
    element('span', { class: 'amount' }, seconds === undefined ? '' : secondsText(seconds)),
  );
  button.addEventListener('click', () => onOpen(id));
  return element('li', { class: `question ${formatVerdict(question).replaceAll(' ', '-')}` }, button);
}

/** @param {QuestionEvent} question */
function formatVerdict({ state, correct }) {
  if (state === 'asked') return 'asked';
  if (state !== 'answered') return state === 'timeout' ? 'no time' : 'failed';
  return correct === undefined || correct === null ? 'answered' : correct ? 'right' : 'wrong';
}

/** @param {(at: number) => void} onMoment */
export function newsList(onMoment) {
  const { list, draw } = lazyList('Faults and notes');
  return {
    node: list,
    /**
     * @param {readonly WatchEvent[]} events
     * @param {number} count
     * @returns {boolean} whether there are any
     */
    draw(events, count) {
      /** @type {Extract<WatchEvent, { kind: 'fault' | 'note' }>[]} */
      const shown = [];
      for (let index = count - 1; index >= 0 && shown.length < MAX_SHOWN; index--) {
        const event = events[index];
        if (event?.kind === 'fault' || event?.kind === 'note') shown.push(event);
      }
      draw(shown.map(({ n }) => n).join(), () =>
        shown.map((event) => {
          const kind = event.kind === 'fault' ? event.what : 'note';
          const button = element(
            'button',
            { type: 'button', class: 'row', title: 'Go to this moment' },
            element('span', { class: 'when' }, clockText(event.at)),
            element('span', { class: 'state' }, kind),
            element('span', {}, event.text),
          );
          button.addEventListener('click', () => onMoment(event.at));
          return element('li', { class: event.kind }, button);
        }),
      );
      return shown.length > 0;
    },
  };
}

/**
 * Renders the results of a comparison so far.
 *
 * @param {WatchState} state
 * /
 */
export function armsTable({ arms }) {
  const rows = [...arms].map(([name, { count, ms, bytes }]) => {
    const sorted = ms.toSorted((a, b) => a - b);
    const middle = sorted[Math.floor(sorted.length / 2)];
    const texts = [
      numberText(count),
      middle === undefined ? '–' : `${numberText(middle)} ms`,
      bytes === null ? '–' : bytesText(bytes),
    ];
    return element(
      'tr',
      {},
      element('th', { scope: 'row' }, name),
      ...texts.map((text) => element('td', { class: 'number' }, text)),
    );
  });
  const head = ['', 'samples', 'median', 'bytes'].map((text) =>
    element('th', { scope: 'col', class: text === '' ? '' : 'number' }, text),
  );
  return element(
    'div',
    { class: 'scroll' },
    element('table', {}, element('thead', {}, element('tr', {}, ...head)), element('tbody', {}, ...rows)),
  );
}

/** @param {number} bytes */
export function bytesText(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1e6 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** @param {number} seconds */
function secondsText(seconds) {
  return seconds < 1 ? `${(seconds * 1000).toFixed(seconds < 0.1 ? 1 : 0)} ms` : `${seconds.toFixed(1)} s`;
}
