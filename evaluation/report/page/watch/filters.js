import { element } from '../dom.js';

/** @typedef {import('./place.js').WatchedPlace} WatchedPlace */

/** Choices that a list offers. */
const MAX_CHOICES = 200;

/**
 * Filters of the shown packets and questions.
 *
 * @param {(change: Partial<WatchedPlace>) => void} onChange
 * /
 */
export function filterBar(onChange) {
  const agent = choice('Agent', (value) => onChange({ agent: value }));
  const type = choice('Type', (value) => onChange({ type: value }));
  const question = choice('Question', (value) => onChange({ question: value }));
  const text = element('input', {
    type: 'search',
    maxlength: '100',
    placeholder: 'any text',
    id: 'text-filter',
  });
  text.addEventListener('input', () => onChange({ text: text.value }));
  const clear = element('button', { type: 'button' }, 'Clear');
  clear.addEventListener('click', () => onChange({ agent: '', type: '', question: '', text: '' }));
  return {
    text,
    node: element(
      'div',
      { class: 'filters', role: 'group', 'aria-label': 'Filters' },
      agent.node,
      type.node,
      question.node,
      element('label', {}, 'Text ', text),
      clear,
    ),
    /**
     * @param {import('./state.js').WatchState} state
     * @param {ReadonlySet<string>} types
     * @param {WatchedPlace} place
     */
    draw(state, types, place) {
      agent.draw([...state.agents.keys()], place.agent);
      type.draw([...types], place.type);
      question.draw([...state.questions.keys()].slice(-MAX_CHOICES), place.question);
      if (text.value !== place.text) text.value = place.text;
      clear.hidden = [place.agent, place.type, place.question, place.text].every((part) => part === '');
    },
  };
}

/**
 * @param {string} label
 * @param {(value: string) => void} onChoice
 */
function choice(label, onChoice) {
  const select = element('select');
  select.addEventListener('change', () => onChoice(select.value));
  let drawn = '';
  return {
    node: element('label', {}, `${label} `, select),
    /**
     * @param {readonly string[]} names
     * @param {string} chosen
     */
    draw(names, chosen) {
      const all = chosen === '' || names.includes(chosen) ? names : [...names, chosen];
      const key = all.join('\n');
      if (key !== drawn && document.activeElement !== select) {
        drawn = key;
        const options = all.slice(0, MAX_CHOICES).map((name) => element('option', { value: name }, name));
        select.replaceChildren(element('option', { value: '' }, 'all'), ...options);
      }
      select.value = chosen;
    },
  };
}
