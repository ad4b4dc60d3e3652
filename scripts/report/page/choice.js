import { element } from './dom.js';

/**
 * Buttons of which one is pressed.
 *
 * @param {string} label
 * @param {readonly string[]} names
 * @param {(index: number) => void} onChoice
 */
export function choiceOf(label, names, onChoice) {
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
