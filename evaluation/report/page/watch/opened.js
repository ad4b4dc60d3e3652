import { element } from '../dom.js';

/** @typedef {import('./state.js').WatchState} WatchState */

/**
 * Asks the server that the page came from.
 *
 * @param {string} what
 * @param {Readonly<Record<string, string>>} query
 * @returns {Promise<any>} the value; null where nothing is known
 */
export async function askServer(what, query = {}) {
  const response = await fetch(`${what}?${new URLSearchParams(query)}`);
  const value = await response.json();
  if (!response.ok) throw new Error(value.error ?? `status ${response.status}`);
  return value;
}

/**
 * The detail that the user opened: the log of an agent, the reasoning of a question, a packet.
 *
 * @param {() => void} onClose
 * /
 */
export function openedPanel(onClose) {
  const title = element('h3', { tabindex: '-1' });
  const close = element('button', { type: 'button' }, 'Close');
  close.addEventListener('click', onClose);
  const body = element('div', { class: 'body' });
  const node = element(
    'section',
    { class: 'opened', 'aria-live': 'polite' },
    element('header', {}, title, close),
    body,
  );
  node.hidden = true;
  let shown = '';
  return {
    node,
    /**
     * @param {string} what as it stands in the address: `log:2`
     * @param {WatchState} state
     * @param {boolean} takesFocus somebody opened it just now
     */
    async show(what, state, takesFocus) {
      const run = state.run?.run ?? '';
      const key = `${run} ${what}`;
      node.hidden = what === '';
      if (what === '' || key === shown) {
        shown = what === '' ? '' : shown;
        return;
      }
      shown = key;
      const [kind = '', name = '', ...rest] = what.split(':');
      const parts = openedParts(kind, name, rest.join(':'), run, state);
      title.textContent = parts.title;
      body.replaceChildren(element('p', { class: 'note' }, 'Loading …'));
      if (takesFocus) title.focus();
      const nodes = await parts.load().catch((error) => [element('p', { class: 'alarm' }, String(error))]);
      if (shown === key) body.replaceChildren(...nodes);
    },
    /** It may have grown. */
    forget() {
      shown = '';
    },
  };
}

/**
 * @param {string} kind
 * @param {string} name
 * @param {string} rest
 * @param {string} run
 * @param {WatchState} state
 * @returns {{ title: string, load: () => Promise<Node[]> }}
 */
function openedParts(kind, name, rest, run, state) {
  switch (kind) {
    case 'log':
      return {
        title: `Log of ${name} ${state.agents.get(name)?.tool ?? ''}`,
        async load() {
          const log = await askServer('log', { run, agent: name });
          if (log === null) return [element('p', { class: 'note' }, 'There is no log of it here.')];
          const cut = log.isCut
            ? [element('p', { class: 'note' }, 'Its last lines; the archive has all of it.')]
            : [];
          return [...cut, createPre(log.text)];
        },
      };
    case 'question': {
      const id = rest === '' ? name : `${name}:${rest}`;
      const question = state.questions.get(id);
      return {
        title: `Question ${id}`,
        async load() {
          const reasoning = await askServer('reasoning', { run, question: id });
          const facts = [
            ['Question', question?.text],
            ['Answer', question?.answer],
            ['Reason', question?.reason],
          ].flatMap(([label = '', text]) =>
            text === undefined ? [] : [element('dt', {}, label), element('dd', {}, text)],
          );
          const none =
            'The team has noted no steps for it. Its packets are in the list: the filter is set to them.';
          return [
            element('dl', { class: 'facts-of' }, ...facts),
            reasoning === null ? element('p', { class: 'note' }, none) : createPre(reasoning),
          ];
        },
      };
    }
    default:
      return {
        title: `Packet ${rest}`,
        async load() {
          const text = await askServer('packet', { run, from: name, id: rest });
          return [
            text === null
              ? element(
                  'p',
                  { class: 'note' },
                  name === 'hub'
                    ? 'The hub opens a task with its question and its document; the archive will have them.'
                    : 'What it says is not known here: its sender keeps no notes, or they are cut.',
                )
              : createPre(text),
          ];
        },
      };
  }
}

/** @param {string} text */
function createPre(text) {
  return element('pre', { tabindex: '0' }, text);
}
