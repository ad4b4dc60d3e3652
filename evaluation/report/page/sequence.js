import { element, numberText, shape } from './dom.js';
import { packetDetail } from './packet-detail.js';

/**
 * @typedef {import('../run/tasks-view.ts').TasksView} TasksView
 * @typedef {import('../run/tasks-view.ts').TaskView} TaskView
 * @typedef {import('../run/packet-view.ts').PacketView} PacketView
 */

/** Lanes that a page has room for. */
const MAX_LANES = 12;

/**
 * Renders the packets of one task in order; each opens to its content and its bytes.
 *
 * @param {TasksView} view
 * /
 */
export function sequenceFigure(view) {
  const place = element('div', { class: 'sequence' });
  const show = (/** @type {TaskView | undefined} */ task) => {
    if (task !== undefined) place.replaceChildren(...taskRows(task, view));
  };
  show(view.tasks[0]);
  return element(
    'figure',
    {},
    element(
      'div',
      { class: 'heading' },
      element('h3', {}, 'From the document to the answer: open a packet to read it and to see its bytes'),
      view.tasks.length > 1 ? taskChooser(view.tasks, show) : null,
    ),
    place,
    element(
      'figcaption',
      {},
      'An arrow ends where somebody took the packet up; a ring heard it. ',
      'Times count from the start of the task until the packet is at the hub. ',
      ...view.notes.map((note) => `${note} `),
    ),
  );
}

/**
 * @param {readonly TaskView[]} tasks
 * @param {(task: TaskView | undefined) => void} show
 */
function taskChooser(tasks, show) {
  const options = tasks.map((task, index) => {
    const question = task.question === null ? '' : ` — ${task.question}`;
    return element('option', { value: String(index) }, `${task.id}${question}`);
  });
  const select = element('select', {}, ...options);
  select.addEventListener('change', () => show(tasks[Number(select.value)]));
  return element('label', { class: 'chooser' }, 'Task ', select);
}

/**
 * @param {TaskView} task
 * @param {TasksView} view
 */
function taskRows(task, { agents, writtenWith }) {
  const lanes = [{ id: HUB, tool: '' }, ...listAgents(task, agents)];
  const at = new Map(lanes.map(({ id }, index) => [id, index]));
  const names = new Map(agents.map(({ id, tool }) => [id, `${id} ${tool}`]));
  const left = agents.length + 1 - lanes.length;
  const head = lanes.map(({ id, tool }) =>
    element('span', {}, element('b', {}, id), tool === '' ? '' : ` ${tool}`),
  );
  const items = task.packets.map((packet) => packetRow(packet, at, names, writtenWith));
  return [
    element(
      'p',
      { class: 'task' },
      task.question === null ? '' : element('span', { class: 'question' }, task.question),
      task.ending === '' ? '' : element('span', { class: 'ending' }, task.ending),
    ),
    element(
      'div',
      { class: 'lanes', 'aria-hidden': 'true' },
      element('span', {}),
      element('span', { class: 'names' }, ...head),
      element('span', { class: 'others' }, left === 0 ? '' : `and ${left} more agents that only heard`),
    ),
    element('ol', {}, ...items),
  ];
}

/**
 * The agents that have a lane: all of a small team, of a large one those that said something.
 *
 * @param {TaskView} task
 * @param {TasksView['agents']} agents
 */
function listAgents({ packets }, agents) {
  if (agents.length <= MAX_LANES) return agents;
  const senders = new Set(packets.map(({ from }) => from));
  return agents.filter(({ id }) => senders.has(id)).slice(0, MAX_LANES);
}

/**
 * @param {PacketView} packet
 * @param {ReadonlyMap<string, number>} at
 * @param {ReadonlyMap<string, string>} names
 * @param {string} writtenWith
 */
function packetRow(packet, at, names, writtenWith) {
  const { type, tag, from, to, atMs, bytes } = packet;
  const time = atMs === null ? '' : `${numberText(Math.round(atMs * 10) / 10)} ms`;
  const size = bytes === null ? '' : `${numberText(bytes)} B`;
  const whom = to === null ? 'everybody' : (names.get(to) ?? to);
  const label = `${type}${tag === null ? '' : `, ${tag}`}, from ${names.get(from) ?? from} to ${whom}, ${size} ${time}`;
  const button = element(
    'button',
    { type: 'button', class: 'packet', 'aria-expanded': 'false', 'aria-label': label },
    element('span', { class: 'time' }, time),
    arrows(packet, at),
    element(
      'span',
      { class: 'what' },
      element('b', {}, type),
      tag === null ? '' : element('span', { class: 'tag' }, tag),
      element('span', { class: 'size' }, size),
    ),
  );
  const item = element('li', {}, button);
  /** @type {Element | undefined} */
  let detail;
  button.addEventListener('click', () => {
    const isOpen = detail?.isConnected ?? false;
    button.setAttribute('aria-expanded', String(!isOpen));
    if (isOpen) return detail?.remove();
    detail ??= packetDetail(packet, writtenWith);
    item.append(detail);
  });
  return item;
}

const HUB = 'hub';
/** Tags with which the hub ends a task. */
const ENDINGS = ['final_answer', 'task_failed'];
const ROW_HEIGHT = 44;
const MIDDLE = ROW_HEIGHT / 2;

/**
 * The way of a packet across the lanes.
 *
 * @param {PacketView} packet
 * @param {ReadonlyMap<string, number>} at
 */
function arrows({ from, to, tag, takenUpBy }, at) {
  const x = (/** @type {number} */ lane) => `${((lane + 0.5) / at.size) * 100}%`;
  const start = at.get(from);
  const hub = at.get(HUB) ?? 0;
  const lifelines = [...at.values()].map((lane) =>
    shape('line', { class: 'lifeline', x1: x(lane), x2: x(lane), y1: 0, y2: '100%' }),
  );
  const drawing = shape('svg', { class: 'arrows', height: ROW_HEIGHT, 'aria-hidden': 'true' }, ...lifelines);
  // Some agents of a large team have no lane.
  if (start === undefined) return drawing;
  const taken = new Set(takenUpBy.map((id) => at.get(id)).filter((lane) => lane !== undefined));
  if (tag !== null && ENDINGS.includes(tag)) taken.add(hub);
  const heard = [...at.values()].filter(
    (lane) => lane !== start && lane !== hub && (to === null || at.get(to) === lane),
  );
  const ends = [...taken, ...heard, start];
  const rings = heard
    .filter((lane) => !taken.has(lane))
    .map((lane) => shape('circle', { class: 'ring', cx: x(lane), cy: MIDDLE, r: 3.5 }));
  const heads = [...taken].map((lane) => {
    const way = lane > start ? -1 : 1;
    const tip = shape('path', { class: 'head', d: `M0,0 l${way * 9},-5 v10 z` });
    return shape('svg', { x: x(lane), y: MIDDLE, overflow: 'visible' }, tip);
  });
  const reach = { x1: x(Math.min(...ends)), x2: x(Math.max(...ends)) };
  drawing.append(
    shape('line', { class: 'reach', ...reach, y1: MIDDLE, y2: MIDDLE }),
    ...[...taken].map((lane) =>
      shape('line', { class: 'way', x1: x(start), x2: x(lane), y1: MIDDLE, y2: MIDDLE }),
    ),
    ...rings,
    ...heads,
    shape('circle', { class: 'start', cx: x(start), cy: MIDDLE, r: 4.5 }),
  );
  return drawing;
}
