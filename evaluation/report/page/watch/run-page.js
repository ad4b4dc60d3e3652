import { element, numberText } from '../dom.js';
import { reportParts } from '../report.js';
import { filterBar } from './filters.js';
import { WatchHistory } from './history.js';
import { askServer, openedPanel } from './opened.js';
import { clockText, packetList } from './packet-list.js';
import { formatAddress, placeInAddress } from './place.js';
import { agentList, armsTable, bytesText, newsList, questionList } from './side-lists.js';
import { timeLine } from './time-line.js';

/**
 * @typedef {import('./state.js').WatchState} WatchState
 * @typedef {import('./place.js').WatchedPlace} WatchedPlace
 */

/** While a run goes on the page is drawn so often, at most. */
const DRAW_EVERY_MS = 250;
/** Types of packets that the filter offers. */
const MAX_TYPES = 200;

/**
 * A run that is on, or over: what happens in it, and in the end its report.
 *
 * @param {import('../../watch-html.ts').RunPlace} given
 */
export function runPage({ title, isListed, version }) {
  const history = new WatchHistory();
  let place = placeInAddress();
  /** @type {Set<string>} */
  const types = new Set();
  let isConnected = false;

  const change = (/** @type {Partial<WatchedPlace>} */ part, takesFocus = false) => {
    place = { ...place, ...part };
    globalThis.history.replaceState(null, '', formatAddress(place));
    draw(takesFocus);
  };
  const heading = element('h1', {}, title);
  const status = element('p', { class: 'status' });
  // Screen readers announce the end, not every question.
  const said = element('p', { class: 'unseen', role: 'status' });
  const back = isListed ? element('a', { href: '../../' }, 'all runs and comparisons') : null;
  const facts = element('dl', { class: 'totals' });
  const pause = element('button', { type: 'button', 'aria-keyshortcuts': 'p' });
  const moment = element('span', { class: 'moment' });
  const link = element('a', { href: '#' }, 'link to this moment');
  const runs = element('select', { 'aria-label': 'Run' });
  const line = timeLine((at) => change({ at }));
  const filters = filterBar(change);
  const open = (/** @type {string} */ what, /** @type {Partial<WatchedPlace>} */ part = {}) =>
    change({ open: what, at: place.at ?? history.lastMs, ...part }, true);
  const packets = packetList(({ at, from, id }) => open(`packet:${from}:${id}`, { at: place.at ?? at }));
  const agents = agentList({ onFilter: (agent) => change({ agent }), onLog: (id) => open(`log:${id}`) });
  const questions = questionList((id) => open(`question:${id}`, { question: id }));
  const news = newsList((at) => change({ at }));
  const opened = openedPanel(() => change({ open: '' }));
  const arms = element('div', {});
  const report = element('div', { id: 'final-report' });

  pause.addEventListener('click', () => change({ at: place.at === null ? history.lastMs : null }));
  runs.addEventListener('change', () => {
    const chosen = history.now.runs[Number(runs.value)];
    const next = history.now.runs[Number(runs.value) + 1];
    if (chosen !== undefined)
      change({ at: next === undefined ? null : Math.max(chosen.at, next.at - 0.001) });
  });
  addEventListener('keydown', (event) => {
    if (event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement) {
      if (event.key === 'Escape') /** @type {HTMLElement} */ (event.target).blur();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'p') pause.click();
    else if (event.key === '/') {
      event.preventDefault();
      filters.text.focus();
    } else if (event.key === 'Escape') change({ open: '' });
  });
  addEventListener('hashchange', () => {
    place = placeInAddress();
    draw(false);
  });

  const section = (/** @type {string} */ id, /** @type {string} */ name, /** @type {Node[]} */ ...nodes) =>
    element(
      'section',
      { class: 'part', 'data-part': id, 'aria-label': name },
      element('h2', {}, name),
      ...nodes,
    );
  const parts = {
    agents: section('agents', 'Agents', agents.node),
    packets: section('packets', 'Packets', filters.node, packets.node),
    questions: section('questions', 'Questions', questions.node),
    news: section('news', 'Faults and notes', news.node),
    arms: section('arms', 'Measured so far', arms),
  };

  /** @param {boolean} takesFocus */
  function draw(takesFocus) {
    const state = place.at === null ? history.now : history.stateAt(place.at);
    const count = place.at === null ? history.events.length : history.countUpTo(place.at);
    const isOver = history.now.end !== null;
    pause.textContent =
      place.at === null ? (isOver ? 'At the end' : 'Pause') : isOver ? 'To the end' : 'Follow';
    moment.textContent = clockText(place.at ?? history.lastMs);
    link.setAttribute('href', formatAddress({ ...place, at: place.at ?? history.lastMs }));
    status.textContent = formatStatus(history, isConnected);
    said.textContent = isOver ? status.textContent : place.at === null ? '' : 'paused';
    const kept = factsOfState(state).map(([name = '', value = '']) =>
      element('div', {}, element('dt', {}, name), element('dd', {}, value)),
    );
    facts.replaceChildren(...kept);
    parts.agents.hidden = state.agents.size === 0;
    parts.packets.hidden = state.agents.size === 0;
    parts.questions.hidden = state.questions.size === 0;
    parts.arms.hidden = state.arms.size === 0;
    runs.hidden = history.now.runs.length < 2;
    if (runs.options.length !== history.now.runs.length)
      runs.replaceChildren(
        ...history.now.runs.map(({ team, adapter, run }, index) =>
          element('option', { value: String(index) }, `${team} · ${adapter} · ${run}`),
        ),
      );
    runs.value = String(state.runs.length - 1);
    line.draw(history, place.at);
    filters.draw(state, types, place);
    packets.draw(history.events, count, place, state.agents);
    agents.draw(state, place.agent);
    questions.draw(state, place.question, place.text);
    parts.news.hidden = !news.draw(history.events, count);
    if (state.arms.size > 0) arms.replaceChildren(armsTable(state));
    if (state.run !== null) heading.textContent = `${title}: ${listNames(state.run)}`;
    document.title = `${status.textContent} · ${title}`;
    void opened.show(place.open, state, takesFocus);
  }

  let drawnMs = 0;
  let isWaiting = false;
  const drawSoon = () => {
    if (isWaiting) return;
    isWaiting = true;
    setTimeout(
      () => {
        isWaiting = false;
        drawnMs = performance.now();
        draw(false);
      },
      Math.max(0, drawnMs + DRAW_EVERY_MS - performance.now()),
    );
  };

  const stream = new EventSource('events');
  stream.addEventListener('open', () => {
    isConnected = true;
    drawSoon();
  });
  stream.addEventListener('error', () => {
    isConnected = false;
    drawSoon();
  });
  stream.addEventListener('message', ({ data }) => {
    /** @type {import('./events.js').RunEvent[]} */
    const events = JSON.parse(data);
    const wasOver = history.now.end !== null;
    history.add(events);
    for (const event of events) if (event.event === 'packet' && types.size < MAX_TYPES) types.add(event.type);
    if (!wasOver && history.now.end !== null) {
      opened.forget();
      void showReport(report);
    }
    drawSoon();
  });

  document
    .getElementById('report')
    ?.append(
      element('header', {}, element('p', { class: 'wordmark' }, 'Gaia Mesh'), heading, status, said, back),
      element(
        'main',
        { class: 'watch' },
        facts,
        element('div', { class: 'controls' }, pause, moment, runs, link),
        line.node,
        opened.node,
        element(
          'div',
          { class: 'columns' },
          element('div', {}, parts.arms, parts.agents, parts.questions, parts.news),
          element('div', {}, parts.packets),
        ),
        report,
      ),
      element(
        'footer',
        {},
        `Gaia Mesh ${version}. Keys: p pauses, / goes to the text filter, Escape closes; arrows move the time line. `,
        'Nothing leaves this machine.',
      ),
    );
  draw(false);
}

/**
 * @param {WatchHistory} history
 * @param {boolean} isConnected
 */
function formatStatus({ now, missed }, isConnected) {
  const { questions } = now.run ?? { questions: null };
  const { ended, asked } = now.score;
  const of = questions ?? asked;
  const share =
    now.progress === null || now.end !== null
      ? clockText(now.at)
      : `${Math.round(100 * now.progress.share)} %, ${now.progress.text}`;
  const done = of > 0 ? `${numberText(ended)} of ${numberText(of)} questions` : share;
  const late = missed === 0 ? '' : `; ${numberText(missed)} events came too late for this page`;
  if (now.end !== null) return `${now.end} · ${done}${late}`;
  if (!isConnected) return `not connected · ${done}${late}`;
  return `running · ${done}${late}`;
}

/** @param {import('./state.js').RunEvent} run */
function listNames({ team, adapter, engine }) {
  // Traffic that no engine took part in says "none".
  return [team, adapter, ...(engine === 'none' ? [] : [engine])].join(', ');
}

/**
 * @param {WatchState} state
 * @returns {string[][]}
 */
function factsOfState({ run, agents, questions, score, totals, faults, at }) {
  const { packets, bytes, tokens, unshown } = totals;
  const struck = [...faults].map(([what, times]) => `${what} ${numberText(times)}`).join(', ');
  const right = score.scored === 0 ? '–' : `${numberText(score.right)} of ${numberText(score.scored)}`;
  const money =
    score.priced === 0
      ? '–'
      : score.isCostKnown
        ? `$${score.cost.toFixed(score.cost < 1 ? 4 : 2)}`
        : 'not known';
  const since = run === null ? at : at - run.at;
  // A comparison has neither; its figures are in a separate table.
  if (agents.size === 0 && questions.size === 0) return [['time', clockText(since)]];
  return [
    ['time', clockText(since)],
    ['answered', `${numberText(score.answered)} of ${numberText(run?.questions ?? score.asked)}`],
    ['right', right],
    [
      'packets',
      unshown === 0 ? numberText(packets) : `${numberText(packets)}, ${numberText(unshown)} counted only`,
    ],
    ['bytes rx', bytesText(bytes)],
    ['tokens', numberText(tokens)],
    ['cost', money],
    ['faults', struck === '' ? 'none' : struck],
  ];
}

/**
 * Renders the report of the run.
 *
 * @param {HTMLElement} into
 * /
 */
async function showReport(into) {
  try {
    const data = await askServer('report');
    if (data === null) return;
    const { headline, nav, nodes } = reportParts(data);
    into.replaceChildren(element('header', {}, element('h2', {}, headline), nav), ...nodes);
  } catch (error) {
    into.replaceChildren(element('p', { class: 'alarm' }, `The report cannot be shown: ${error}`));
  }
}
