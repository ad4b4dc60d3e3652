import { shape } from './dom.js';

/** @typedef {import('../packet-view.ts').PacketView} PacketView */

export const HUB = 'hub';
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
export function arrows({ from, to, tag, takenUpBy }, at) {
  const x = (/** @type {number} */ lane) => `${((lane + 0.5) / at.size) * 100}%`;
  const start = at.get(from);
  const hub = at.get(HUB) ?? 0;
  const lifelines = [...at.values()].map((lane) =>
    shape('line', { class: 'lifeline', x1: x(lane), x2: x(lane), y1: 0, y2: '100%' }),
  );
  const drawing = shape('svg', { class: 'arrows', height: ROW_HEIGHT, 'aria-hidden': 'true' }, ...lifelines);
  // Of a large team some have no lane.
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
