/** @typedef {Node | string | null} Child */

/**
 * An element. Texts become text, whatever they look like: nothing on this page is ever read as markup.
 *
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Readonly<Record<string, string>>} attributes
 * @param {readonly Child[]} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children.filter((child) => child !== null));
  return node;
}

/**
 * A shape of a drawing; positions may be percentages.
 *
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Readonly<Record<string, string | number>>} attributes
 * @param {readonly Node[]} children
 * @returns {SVGElementTagNameMap[K]}
 */
export function shape(tag, attributes = {}, ...children) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  node.append(...children);
  return node;
}

/**
 * Buttons of which one is pressed.
 *
 * @param {string} label
 * @param {readonly string[]} names
 * @param {(index: number) => void} onChoice
 */
export function createChoice(label, names, onChoice) {
  const buttons = names.map((name, index) => {
    const button = element('button', { type: 'button', 'aria-pressed': String(index === 0) }, name);
    button.addEventListener('click', () => {
      for (const other of buttons) other.setAttribute('aria-pressed', String(other === button));
      onChoice(index);
    });
    return button;
  });
  return element('div', { class: 'choice', role: 'group', 'aria-label': label }, ...buttons);
}

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
