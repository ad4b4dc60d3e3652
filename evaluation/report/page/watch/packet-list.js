import { element, numberText } from '../dom.js';

/**
 * @typedef {Extract<import('./state.js').WatchEvent, { kind: 'packet' }>} PacketEvent
 * @typedef {import('./place.js').WatchedPlace} WatchedPlace
 */

/** Rows that are drawn; the time line leads to the others. */
const MAX_ROWS = 150;

/**
 * The last packets up to a moment, the latest first. A row stays the same element for as long as it is shown, so that nothing moves under
 * whoever reads it.
 *
 * @param {(packet: PacketEvent) => void} onOpen
 */
export function packetList(onOpen) {
  const list = element('ol', { class: 'rows flow' });
  const empty = element('p', { class: 'note' }, 'No packet yet.');
  /** @type {Map<number, HTMLElement>} */
  const rows = new Map();
  return {
    node: element('div', {}, empty, list),
    /**
     * @param {readonly import('./state.js').WatchEvent[]} events
     * @param {number} count how many of them are past
     * @param {WatchedPlace} place
     * @param {ReadonlyMap<string, { tool: string }>} agents
     */
    draw(events, count, place, agents) {
      /** @type {PacketEvent[]} */
      const shown = [];
      for (let index = count - 1; index >= 0 && shown.length < MAX_ROWS; index--) {
        const event = events[index];
        // Another run's packets are of other agents.
        if (event?.kind === 'run') break;
        if (event?.kind === 'packet' && passesFilters(event, place)) shown.push(event);
      }
      const numbers = new Set(shown.map(({ n }) => n));
      for (const [n, row] of rows) {
        if (numbers.has(n)) continue;
        row.remove();
        rows.delete(n);
      }
      /** @type {Element | null} */
      let next = list.firstElementChild;
      for (const packet of shown) {
        let row = rows.get(packet.n);
        if (row === undefined) {
          row = createPacketRow(packet, agents, onOpen);
          rows.set(packet.n, row);
        }
        if (row === next) next = next.nextElementSibling;
        else list.insertBefore(row, next);
      }
      empty.hidden = shown.length > 0;
      const isFiltered = [place.agent, place.type, place.question, place.text].some((text) => text !== '');
      empty.textContent = isFiltered ? 'No packet that the filters let through.' : 'No packet yet.';
    },
  };
}

/**
 * @param {PacketEvent} packet
 * @param {WatchedPlace} place
 */
function passesFilters({ id, from, to, type, tag, task }, { agent, type: wanted, question, text }) {
  if (agent !== '' && from !== agent && to !== agent) return false;
  if (wanted !== '' && type !== wanted) return false;
  if (question !== '' && task !== question) return false;
  if (text === '') return true;
  const low = text.toLowerCase();
  return [id, from, to ?? '', type, tag ?? '', task].some((part) => part.toLowerCase().includes(low));
}

/**
 * @param {PacketEvent} packet
 * @param {ReadonlyMap<string, { tool: string }>} agents
 * @param {(packet: PacketEvent) => void} onOpen
 */
function createPacketRow(packet, agents, onOpen) {
  const { at, from, to, type, tag, task, bytes, tokens, copies } = packet;
  const nameOf = (/** @type {string} */ id) => `${id} ${agents.get(id)?.tool ?? ''}`.trim();
  const whom = to === null ? (copies === 0 ? 'nobody' : `all ${copies}`) : nameOf(to);
  const button = element(
    'button',
    { type: 'button', class: 'row' },
    element('span', { class: 'when' }, clockText(at)),
    element('span', { class: 'who' }, `${nameOf(from)} → ${whom}`),
    element('b', {}, type),
    tag === undefined ? null : element('span', { class: 'tag' }, tag),
    element('span', { class: 'amount' }, `${numberText(bytes)} B`),
    element('span', { class: 'amount' }, tokens === 0 ? '' : `${numberText(tokens)} tok`),
    element('span', { class: 'of' }, task),
  );
  button.addEventListener('click', () => onOpen(packet));
  return element('li', {}, button);
}

/**
 * `1:02.345`
 *
 * @param {number} ms
 */
export function clockText(ms) {
  const minutes = Math.floor(ms / 60_000);
  const seconds = (ms / 1000 - 60 * minutes).toFixed(3).padStart(6, '0');
  return `${minutes}:${seconds}`;
}
