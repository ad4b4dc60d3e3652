import { d3 } from './libraries.js';

const STEPS = [1, 2, 5];

/**
 * Round numbers on a logarithmic axis: 1, 2, 5, 10, … and on a short one evenly spaced.
 *
 * @param {number} low
 * @param {number} high
 * @param {number} most
 */
export function logTicks(low, high, most) {
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
    for (const step of STEPS) {
      const tick = Number((step * 10 ** power).toPrecision(1));
      if (tick >= low && tick <= high) ticks.push(tick);
    }
  }
  if (ticks.length < 3) return d3.ticks(low, high, Math.min(5, most));
  const stride = Math.ceil(ticks.length / most);
  return ticks.filter((_, index) => index % stride === 0);
}
