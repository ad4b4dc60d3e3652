const compact = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });
const grouped = new Intl.NumberFormat('en-US', { maximumFractionDigits: 3 });

/**
 * A number below an axis: `12K`.
 *
 * @param {number} value
 */
export function tickText(value) {
  const text = Math.abs(value) >= 1000 ? compact.format(value) : grouped.format(value);
  return text.replace('-', '−');
}

/**
 * A number in full: `12,345`.
 *
 * @param {number} value
 */
export function numberText(value) {
  return grouped.format(value);
}
