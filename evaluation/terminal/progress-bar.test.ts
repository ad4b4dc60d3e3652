import { afterEach, expect, test, vi } from 'vitest';
import { ProgressBar } from './progress-bar.ts';

const ESCAPE = '\u001b';
const CONTROL_OR_CHARACTER = new RegExp(`${ESCAPE}\\[[?\\d;]*[A-Za-z]|${ESCAPE}[78]|[\\s\\S]`, 'g');

afterEach(() => vi.restoreAllMocks());

/** Records standard error, as a terminal or not. */
function heard(isTerminal: boolean): () => string {
  const was = Object.getOwnPropertyDescriptor(process.stderr, 'isTTY');
  Object.defineProperty(process.stderr, 'isTTY', { value: isTerminal, configurable: true });
  let text = '';
  vi.spyOn(process.stderr, 'write').mockImplementation((chunk) => {
    text += String(chunk);
    return true;
  });
  return () => {
    if (was === undefined) Reflect.deleteProperty(process.stderr, 'isTTY');
    else Object.defineProperty(process.stderr, 'isTTY', was);
    return text;
  };
}

/** The lines that a terminal shows in the end: a carriage return or a move to column 1 goes to the line's start. */
function shown(text: string): string[] {
  const lines = [''];
  let column = 0;
  for (const [part] of text.matchAll(CONTROL_OR_CHARACTER)) {
    const at = lines.length - 1;
    const line = lines[at] ?? '';
    if (part === '\n') {
      lines.push('');
      column = 0;
    } else if (part === '\r' || part === `${ESCAPE}[1G`) column = 0;
    else if ([`${ESCAPE}[K`, `${ESCAPE}[0K`].includes(part)) lines[at] = line.slice(0, column);
    else if (!part.startsWith(ESCAPE)) {
      lines[at] = line.slice(0, column).padEnd(column) + part + line.slice(column + 1);
      column += 1;
    }
  }
  return lines.map((line) => line.trim()).filter((line) => line !== '');
}

test('on a terminal what is said stands above the bar, whole, and the bar goes on below it', async () => {
  const end = heard(true);
  const bar = await ProgressBar.start(4, 'tasks');
  bar.advance('1 answered');
  bar.note('fault: kill=2@0.5s');
  bar.note('agent 2 is back');
  bar.advance('2 answered');
  bar.end();
  const lines = shown(end());
  expect(lines.slice(0, 2)).toEqual(['fault: kill=2@0.5s', 'agent 2 is back']);
  expect(lines).toHaveLength(3);
  expect(lines[2]).toMatch(/2\/4 tasks · 2 answered$/);
});

test('off a terminal there is a line every tenth of the way', async () => {
  const end = heard(false);
  const bar = await ProgressBar.start(40, 'rounds');
  for (let i = 0; i < 40; i++) bar.advance();
  // Advancing beyond the total must not change the bar.
  for (let i = 0; i < 40; i++) bar.advance();
  bar.end();
  const lines = end().trim().split('\n');
  expect(lines).toHaveLength(10);
  expect(lines.at(-1)).toBe('40/40 rounds');
});

test('off a terminal a share is given in percent', async () => {
  const end = heard(false);
  const bar = await ProgressBar.start(100, '%');
  bar.at(24.6);
  expect(end()).toMatch(/^24 % done/);
});

test('the time that is left is said from a second on, roughly', async () => {
  const says = async (elapsedMs: number) => {
    const end = heard(false);
    const now = vi.spyOn(performance, 'now').mockReturnValue(0);
    const bar = await ProgressBar.start(2, 'tasks');
    now.mockReturnValue(elapsedMs);
    bar.advance();
    const text = end();
    vi.restoreAllMocks();
    return text;
  };
  expect(await says(400)).toBe('1/2 tasks\n');
  expect(await says(12_400)).toBe('1/2 tasks, about 12 s left\n');
  expect(await says(600_000)).toBe('1/2 tasks, about 10 min left\n');
});
