import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { listSteps } from '../results/failures/trace-steps.ts';
import { formatDate, showHidden, toLine } from './format.ts';

/** The components that all pages share. */

interface CardProps {
  readonly title: string;
  readonly about?: ComponentChildren;
  readonly id?: string | undefined;
  /** Name of the card in the bar at the top of the page; without it, the bar leaves the card out. */
  readonly nav?: string | undefined;
  /** Controls beside the title. */
  readonly tools?: ComponentChildren;
  readonly size?: 'wide' | 'half' | 'main' | 'side';
  readonly children?: ComponentChildren;
}

export function Card({ title, about, id, nav, tools, size = 'wide', children }: CardProps) {
  return (
    <section class={`card ${size}`} id={id} data-nav={nav}>
      <div class="card-head">
        <h2>{showHidden(title)}</h2>
        {tools}
      </div>
      {about === undefined ? null : <p class="about">{about}</p>}
      {children}
    </section>
  );
}

interface TitleProps {
  readonly title: string;
  /** The title of the browser's tab, if it differs. */
  readonly tab?: string;
  /** One or two sentences on what was done. */
  readonly lede?: ComponentChildren;
  readonly command?: string | null | undefined;
  /** The time at which the result was made. */
  readonly when?: string | null;
  /** Facts on where and with what the result was made. */
  readonly made?: readonly (string | number | null | undefined)[];
}

/** The head of a page: its finding, and the command and facts behind it. */
export function Title({ title, tab = title, lede, command, when = null, made = [] }: TitleProps) {
  useEffect(() => {
    document.title = `${tab} · Gaia Mesh`;
  }, [tab]);
  const facts = [when === null ? '' : formatDate(when), ...made]
    .map((fact) => toLine(String(fact ?? ''), 160))
    .filter(Boolean);
  return (
    <header class="title">
      <h1>{showHidden(title)}</h1>
      {lede === undefined ? null : <p class="lede">{lede}</p>}
      {typeof command !== 'string' && facts.length === 0 ? null : (
        <p class="made">
          {typeof command === 'string' ? <Command text={command} /> : null}
          {facts.map((fact) => (
            <span key={fact}>{fact}</span>
          ))}
        </p>
      )}
    </header>
  );
}

/** A command that can be copied. */
function Command({ text }: { readonly text: string }) {
  return (
    <span class="command">
      <code>{showHidden(text)}</code>
      <CopyButton text={() => text} label="Copy" what="the command" />
    </span>
  );
}

/** A text in which options of commands and words between backticks are set as code. */
export function Prose({ text }: { readonly text: string }) {
  return showHidden(text)
    .split(/`([^`]+)`|(--[a-z][\w-]*(?: \d+(?:\.\d+)?)?)/)
    .map((part, index) =>
      index % 3 === 0 ? part : part === undefined ? null : <code key={index}>{part}</code>,
    );
}

interface CopyButtonProps {
  readonly text: () => string;
  readonly label: string;
  readonly what: string;
}

export function CopyButton({ text, label, what }: CopyButtonProps) {
  const [said, setSaid] = useState('');
  const copy = async () => {
    setSaid((await copyText(text())) ? 'Copied' : 'Not copied: the browser refused');
    setTimeout(() => setSaid(''), 2000);
  };
  return (
    <button type="button" class="quiet" aria-label={`${label} ${what}`} onClick={() => void copy()}>
      <span aria-live="polite">{said === '' ? label : said}</span>
    </button>
  );
}

async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

export interface Fact {
  readonly name: string;
  readonly value: ComponentChildren;
  /** A line below the value. */
  readonly note?: ComponentChildren;
  /** A sentence on how the figure was measured. */
  readonly explain: string;
  readonly tone?: Tone | undefined;
}

export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl class="facts">
      {facts.map(({ name, value, note, explain, tone }) => (
        <div key={name} title={explain}>
          <dt>{name}</dt>
          <dd class={tone}>{value}</dd>
          {note === undefined ? null : <dd class="note">{note}</dd>}
        </div>
      ))}
    </dl>
  );
}

/** Number of packets from which on a picture is slow to draw, and the content below it waits. */
const LARGE_PICTURE = 2000;

/** Content below a picture. If the picture is large, the content is drawn only after the page has been painted once. */
export function Below({
  packets,
  children,
}: {
  /** Number of packets in the picture. */
  readonly packets: number;
  readonly children: ComponentChildren;
}): ComponentChildren {
  const [isPainted, setPainted] = useState(packets < LARGE_PICTURE);
  useEffect(() => {
    const frame = requestAnimationFrame(() => setTimeout(() => setPainted(true)));
    return () => cancelAnimationFrame(frame);
  }, []);
  return isPainted ? children : null;
}

export type Tone = 'good' | 'bad' | 'warn' | 'plain';

export function Badge({ tone = 'plain', children }: { tone?: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

/** Warnings in a few lines, in the same form on every page. */
export function Notes({ texts, isAlarm = false }: { texts: readonly string[]; isAlarm?: boolean }) {
  if (texts.length === 0) return null;
  return (
    <div class={`notes ${isAlarm ? 'bad' : ''}`} role={isAlarm ? 'alert' : 'note'}>
      {texts.map((text) => (
        <p key={text}>
          <Prose text={text} />
        </p>
      ))}
    </div>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly names: readonly string[];
  readonly chosen: number;
  readonly onChoice: (index: number) => void;
}

/** A row of buttons, one of which is pressed. */
export function Choice({ label, names, chosen, onChoice }: ChoiceProps) {
  return (
    <fieldset class="choice">
      <legend class="unseen">{label}</legend>
      {names.map((name, index) => (
        <button key={name} type="button" aria-pressed={index === chosen} onClick={() => onChoice(index)}>
          {name}
        </button>
      ))}
    </fieldset>
  );
}

/** A text as it was sent. It may be long, and its invisible characters are shown as escapes. */
export function Source({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section class="source" tabIndex={0} aria-label={label}>
      <pre>{showHidden(text)}</pre>
    </section>
  );
}

interface LoadedProps {
  readonly label: string;
  /** A value whose change makes another text be loaded. */
  readonly of: unknown;
  readonly load: () => Promise<string | null>;
  /** The sentence that is shown if there is no text. */
  readonly missing: string;
  readonly show?: (text: string) => ComponentChildren;
}

/** A text that is loaded when it is opened, from the page's own data or from the server of a live page. */
export function Loaded({ label, of, load, missing, show }: LoadedProps) {
  const [text, setText] = useState<string | null | undefined>();
  useEffect(() => {
    let isCurrent = true;
    setText(undefined);
    load().then(
      (loaded) => isCurrent && setText(loaded),
      (error: unknown) => isCurrent && setText(`It could not be loaded: ${error}`),
    );
    return () => {
      isCurrent = false;
    };
  }, [of]);
  return (
    <div aria-live="polite">
      {text === undefined ? (
        <p class="about">Loading …</p>
      ) : text === null || text === '' ? (
        <p class="about">{missing}</p>
      ) : (
        (show?.(text) ?? <Source text={text} label={label} />)
      )}
    </div>
  );
}

/** Steps of a trace of reasoning and tool calls, in their order. */
export function Trace({ text }: { readonly text: string }) {
  return (
    <ol class="trace">
      {listSteps(text).map((step, index) => (
        <li key={index} class={step.isToolCall ? 'tool-step' : undefined}>
          {showHidden(step.text)}
        </li>
      ))}
    </ol>
  );
}
