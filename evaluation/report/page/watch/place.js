/**
 * The current view, which is part of the address, so that links lead to it.
 *
 * @typedef {object} WatchedPlace
 * @property {number | null} at the moment; null is now
 * @property {string} agent packets from or to it
 * @property {string} type
 * @property {string} question
 * @property {string} text
 * @property {string} open what is opened: `log:2`, `question:q-1`, `packet:2:2-17`
 * /
 */

/** @returns {WatchedPlace} */
export function placeInAddress() {
  const values = new URLSearchParams(location.hash.slice(1));
  const text = (/** @type {string} */ name) => values.get(name) ?? '';
  const at = values.get('at');
  return {
    at: at === null || at === '' || !Number.isFinite(Number(at)) ? null : Number(at),
    agent: text('agent'),
    type: text('type'),
    question: text('question'),
    text: text('text'),
    open: text('open'),
  };
}

/** @param {WatchedPlace} place */
export function formatAddress(place) {
  const values = new URLSearchParams();
  for (const [name, value] of Object.entries(place)) {
    if (value !== null && value !== '') values.set(name, String(value));
  }
  return `#${values}`;
}
