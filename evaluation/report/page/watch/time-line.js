import { element, shape } from '../dom.js';
import { clockText } from './packet-list.js';

/** @typedef {import('./history.js').WatchHistory} WatchHistory */

const BUCKETS = 120;
const STRIP_HEIGHT = 36;
/** Drawn at most so often while the run goes on. */
const STRIP_EVERY_MS = 500;

/**
 * The run as a strip of packets and faults over time, and a slider that goes to any moment of it.
 *
 * @param {(at: number | null) => void} onMoment
 */
export function timeLine(onMoment) {
  const strip = shape('svg', {
    class: 'strip',
    viewBox: `0 0 ${BUCKETS} ${STRIP_HEIGHT}`,
    preserveAspectRatio: 'none',
    'aria-hidden': 'true',
  });
  const slider = element('input', {
    type: 'range',
    min: '0',
    step: 'any',
    'aria-label': 'Moment',
    value: '0',
  });
  slider.addEventListener('input', () => {
    const at = Number(slider.value);
    onMoment(at >= Number(slider.max) ? null : at);
  });
  // A slider without steps does not know how far an arrow key goes.
  slider.addEventListener('keydown', (event) => {
    const way = { ArrowLeft: -1, ArrowRight: 1, PageDown: -10, PageUp: 10 }[event.key];
    if (way === undefined) return;
    event.preventDefault();
    const span = Number(slider.max) - Number(slider.min);
    slider.value = String(Number(slider.value) + (way * span) / 200);
    slider.dispatchEvent(new Event('input'));
  });
  let drawnMs = Number.NEGATIVE_INFINITY;
  let drawnTo = -1;
  return {
    node: element('div', { class: 'time-line' }, strip, slider),
    /**
     * @param {WatchHistory} history
     * @param {number | null} at
     */
    draw(history, at) {
      slider.min = String(history.beganMs);
      slider.max = String(history.lastMs);
      slider.value = String(at ?? history.lastMs);
      slider.setAttribute('aria-valuetext', clockText(at ?? history.lastMs));
      const isDue = performance.now() - drawnMs > STRIP_EVERY_MS || history.now.end !== null;
      if (drawnTo === history.lastMs || !isDue) return;
      drawnMs = performance.now();
      drawnTo = history.lastMs;
      strip.replaceChildren(...listBars(history));
    },
  };
}

/** @param {WatchHistory} history */
function listBars({ events, beganMs, lastMs }) {
  const span = Math.max(lastMs - beganMs, 1e-6);
  const bucketOf = (/** @type {number} */ at) =>
    Math.min(BUCKETS - 1, Math.floor(((at - beganMs) / span) * BUCKETS));
  const packets = new Array(BUCKETS).fill(0);
  const faults = new Set();
  let before = 0;
  let isFirst = true;
  for (const event of events) {
    if (event.kind === 'run') before = 0;
    if (event.kind === 'totals') {
      // Nothing is known of the time before the first kept event.
      if (!isFirst || event.n < 1000) packets[bucketOf(event.at)] += Math.max(0, event.packets - before);
      before = event.packets;
      isFirst = false;
    }
    if (event.kind === 'fault') faults.add(bucketOf(event.at));
  }
  const most = Math.max(1, ...packets);
  return [
    ...packets.flatMap((amount, x) => {
      const height = (amount / most) * (STRIP_HEIGHT - 6);
      return amount === 0
        ? []
        : [shape('rect', { x: x + 0.1, width: 0.8, y: STRIP_HEIGHT - height, height })];
    }),
    ...[...faults].map((x) => shape('rect', { class: 'fault', x, width: 1, y: 0, height: 4 })),
  ];
}
