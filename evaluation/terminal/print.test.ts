import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createStyles, print, printError, printText } from './print.ts';
import { formatTable, wrapText } from './table.ts';

/** Returns what `act` writes to standard output and standard error. */
function record(act: () => void): string {
  const written: string[] = [];
  const spies = (['stdout', 'stderr'] as const).map((stream) =>
    vi.spyOn(process[stream], 'write').mockImplementation((text) => written.push(String(text)) > 0),
  );
  onTestFinished(() => {
    vi.restoreAllMocks();
  });
  act();
  for (const spy of spies) spy.mockRestore();
  return written.join('');
}

const WAYS = [
  ['a line on standard output', print],
  ['text on standard output', printText],
  ['a line on standard error', printError],
] as const;

describe('what is printed', () => {
  test.each([
    ['\u001b[2J\u001b[H', '\\u001b[2J\\u001b[H'],
    ['\u001b[31mred', '\\u001b[31mred'],
    ['\u001b]0;title\u0007', '\\u001b]0;title\\u0007'],
    ['\u001b[8mhidden', '\\u001b[8mhidden'],
    ['over\rwritten', 'over\\u000dwritten'],
    ['\u009b31m', '\\u009b31m'],
    ['abc\u202edef', 'abc\\u202edef'],
    ['a\u2066b\u2069', 'a\\u2066b\\u2069'],
    ['zero\u200bwidth', 'zero\\u200bwidth'],
    ['soft\u00adhyphen', 'soft\\u00adhyphen'],
    ['\u{e0041}', '\\udb40\\udc41'],
    ['\u0000', '\\u0000'],
    ['::error::x', '\\u003a:error::x'],
    ['  \u3000::set-output name=a::b', '  \u3000\\u003a:set-output name=a::b'],
    ['a ##[group]b', 'a \\u0023#[group]b'],
    ['a ##vso[task.complete]', 'a \\u0023#vso[task.complete]'],
    ["##teamcity[message text='x']", "\\u0023#teamcity[message text='x']"],
  ])('drives neither terminal nor CI: %j', (text, shown) => {
    for (const [, say] of WAYS) expect(record(() => say(text)).replace(/\n$/, '')).toBe(shown);
  });

  test.each(['a\tb', 'né ✅ 👩‍🚀 日本語', 'std::vector', '## Heading [1]'])('stays: %j', (text) => {
    for (const [, say] of WAYS) expect(record(() => say(text)).replace(/\n$/, '')).toBe(text);
  });

  test('stays one line, whatever it contains', () => {
    expect(record(() => print('a\n::error::x\nb'))).toBe('a\\n::error::x\\nb\n');
  });

  test('begins no line of standard error but the first', () => {
    expect(record(() => printError('a\n::error::x\n##[y]\nb'))).toBe(
      'a\n  \\u003a:error::x\n  \\u0023#[y]\n  b\n',
    );
  });

  test('has our own styles, and none that came with a text', () => {
    vi.stubEnv('FORCE_COLOR', '1');
    vi.stubEnv('NO_COLOR', undefined);
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    const { red, bold } = createStyles(process.stdout);
    expect(record(() => print(bold(`a ${red('b \u001b[32mc')}`)))).toBe(
      '\u001b[1ma \u001b[31mb \\u001b[32mc\u001b[39m\u001b[22m\n',
    );
    expect(record(() => print(red('::error::x')))).toBe('\u001b[31m\\u003a:error::x\u001b[39m\n');
  });

  test('says the same as JSON', () => {
    const value = { text: 'a\u202e\u2028\u0085\u{e0041}"\\\n', '::k': ['##[x]', '::error::'] };
    const shown = record(() => printText(JSON.stringify(value, null, 2)));
    expect(shown).toMatch(/^[\x20-\x7e\n]+$/);
    expect(JSON.parse(shown)).toEqual(value);
  });
});

test('a line end in a cell or in a text to wrap begins no line', () => {
  expect(
    formatTable([
      ['a', 'b'],
      ['x\n::error::', 'y\r\n\tz'],
    ]),
  ).toBe('a            b\nx ::error::  y z');
  expect(wrapText('a\n::error::\u2028b')).toBe('a ::error:: b');
});
