import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { escapeControls, print, printError, printText } from './print.ts';

describe('what is printed', () => {
  test.each([
    ['\u001b[2J\u001b[H', '\\u001b[2J\\u001b[H'],
    ['\u001b]0;title\u0007', '\\u001b]0;title\\u0007'],
    ['\u001b[8mhidden', '\\u001b[8mhidden'],
    ['over\rwritten', 'over\\u000dwritten'],
    ['\u009b31m', '\\u009b31m'],
    ['abc\u202edef', 'abc\\u202edef'],
    ['a\u2066b\u2069', 'a\\u2066b\\u2069'],
    ['zero\u200bwidth', 'zero\\u200bwidth'],
    ['\u{e0041}', '\\udb40\\udc41'],
    ['\u0000', '\\u0000'],
  ])('does not drive the terminal: %j', (text, shown) => {
    expect(escapeControls(text)).toBe(shown);
  });

  test.each(['a\n\tb', 'né ✅ 👩‍🚀 日本語', '\u001b[1mbold\u001b[22m \u001b[31mred\u001b[39m'])(
    'stays: %j',
    (text) => {
      expect(escapeControls(text)).toBe(text);
    },
  );

  test.each([
    ['a line on standard output', 'stdout', print],
    ['a text on standard output', 'stdout', printText],
    ['a line on standard error', 'stderr', printError],
  ] as const)('does not drive the terminal as %s', (_what, stream, say) => {
    const written: string[] = [];
    const spy = vi
      .spyOn(process[stream], 'write')
      .mockImplementation((text) => written.push(String(text)) > 0);
    onTestFinished(() => spy.mockRestore());

    say('\u001b[2Jgone\u202e');

    spy.mockRestore();
    expect(written.join('').trimEnd()).toBe('\\u001b[2Jgone\\u202e');
  });

  test('says the same as JSON', () => {
    const value = { text: 'a\u202e\u2028\u0085\u{e0041}"\\\n' };
    const shown = escapeControls(JSON.stringify(value));
    expect(shown).toMatch(/^[\x20-\x7e]+$/);
    expect(JSON.parse(shown)).toEqual(value);
  });
});
