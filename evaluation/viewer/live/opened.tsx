import { useEffect, useRef, useState } from 'preact/hooks';
import { showHidden, toLine } from '../format.ts';
import { Source } from '../parts.tsx';
import type { LiveState } from './state.ts';

/** Asks the server that the page came from; null where nothing is known. */
export async function askServer(
  what: string,
  query: Readonly<Record<string, string>> = {},
): Promise<unknown> {
  const response = await fetch(`${what}?${new URLSearchParams(query)}`);
  const value = await response.json();
  if (!response.ok) throw new Error(value.error ?? `status ${response.status}`);
  return value;
}

interface OpenedProps {
  /** The detail as it stands in the address: `log:2`. */
  readonly what: string;
  readonly state: LiveState;
  readonly isOver: boolean;
  readonly onClose: () => void;
}

/** The detail that the user opened: the log of an agent, the reasoning of a question, a packet. */
export function Opened({ what, state, isOver, onClose }: OpenedProps) {
  const [shown, setShown] = useState<{ readonly text: string; readonly note: string } | null>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const run = state.run?.run_id ?? '';
  const [kind = '', name = '', ...rest] = what.split(':');
  useEffect(() => {
    if (what === '') return;
    let isCurrent = true;
    setShown(null);
    heading.current?.focus();
    loadDetail(kind, name, rest.join(':'), run).then(
      (detail) => isCurrent && setShown(detail),
      (error: unknown) => isCurrent && setShown({ text: '', note: String(error) }),
    );
    return () => {
      isCurrent = false;
    };
  }, [what, run, isOver]);
  if (what === '') return null;
  const question = kind === 'question' ? state.questions.get([name, ...rest].join(':')) : undefined;
  const title =
    kind === 'log'
      ? `Log of ${name} ${state.agents.get(name)?.tool ?? ''}`
      : kind === 'question'
        ? `Question ${[name, ...rest].join(':')}`
        : `Packet ${rest.join(':')}`;
  return (
    <section class="card opened" aria-label="Opened">
      <div class="card-head">
        <h2 ref={heading} tabIndex={-1}>
          {toLine(title, 100)}
        </h2>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
      {question === undefined ? null : (
        <dl class="pairs">
          {(
            [
              ['Question', question.text],
              ['Answer', question.end?.answer],
              ['Reason', question.end?.reason],
            ] as const
          ).map(([label, text]) =>
            typeof text === 'string' && text !== '' ? (
              <div key={label}>
                <dt>{label}</dt>
                <dd>{showHidden(text)}</dd>
              </div>
            ) : null,
          )}
        </dl>
      )}
      <div aria-live="polite">
        <p class="about">{shown === null ? 'Loading …' : shown.note}</p>
        {shown === null || shown.text === '' ? null : <Source text={shown.text} label={title} />}
      </div>
    </section>
  );
}

async function loadDetail(kind: string, name: string, rest: string, run: string) {
  if (kind === 'log') {
    const log = (await askServer('log', { run, agent: name })) as { text: string; isCut: boolean } | null;
    if (log === null) return { text: '', note: 'There is no log of it here.' };
    return { text: log.text, note: log.isCut ? 'Its last lines; the archive has all of it.' : '' };
  }
  if (kind === 'question') {
    const id = rest === '' ? name : `${name}:${rest}`;
    const reasoning = await askServer('reasoning', { run, question: id });
    return typeof reasoning === 'string'
      ? { text: reasoning, note: '' }
      : {
          text: '',
          note: 'The team has noted no steps for it. Its packets are in the list: the filter is set to them.',
        };
  }
  const text = await askServer('packet', { run, from: name, id: rest });
  if (typeof text === 'string') return { text, note: '' };
  return {
    text: '',
    note:
      name === 'hub'
        ? 'The hub opens a task with its question and its document; the archive will have them.'
        : 'What it says is not known here: its sender keeps no notes, or they are cut.',
  };
}
