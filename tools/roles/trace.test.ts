import { describe, expect, test } from 'vitest';
import { cutText, formatTrace, isDeeper, MAX_ENTRY_CHARACTERS, Trace } from './trace.ts';

const nested = (depth: number) => JSON.parse(`${'{"a":'.repeat(depth)}{}${'}'.repeat(depth)}`);

describe('a trace', () => {
  test('reads as numbered steps, each with who took it, the tool with arguments and result (REQ-030, REQ-057, REQ-058)', () => {
    const trace = new Trace();
    trace.add({ by: 'expert', kind: 'reasoning', text: 'I need the sum.' });
    trace.add({
      by: 'expert',
      kind: 'tool',
      tool: 'calculator',
      arguments: { expression: '1+1' },
      text: '2',
    });
    trace.add({ by: 'expert', kind: 'tool', tool: 'calculator', text: 'no expression', failed: true });

    expect(formatTrace(trace.entries)).toBe(
      '1. expert: I need the sum.\n2. expert: calculator({"expression":"1+1"}) → 2\n3. expert: calculator({}) failed: no expression',
    );
  });

  test('keeps a tool’s text as long as a model is shown it, and says what it cut (OV-06)', () => {
    const trace = new Trace();
    trace.add({ by: 'r', kind: 'tool', tool: 't', text: 'x'.repeat(MAX_ENTRY_CHARACTERS) });
    trace.add({ by: 'r', kind: 'tool', tool: 't', text: 'x'.repeat(MAX_ENTRY_CHARACTERS + 1) });

    expect(trace.entries[0]?.text).toBe('x'.repeat(MAX_ENTRY_CHARACTERS));
    expect(trace.entries[1]?.text).toHaveLength(MAX_ENTRY_CHARACTERS);
    expect(trace.entries[1]?.text).toMatch(/x… \[cut: 24001 characters in all\]$/);
  });

  test('has at most 2,000 entries, and the last one says that there were more', () => {
    const trace = new Trace();
    for (let i = 0; i < 2500; i++) trace.add({ by: 'r', kind: 'note', text: String(i) });

    expect(trace.entries).toHaveLength(2000);
    expect(trace.entries[1998]?.text).toBe('1998');
    expect(trace.entries[1999]?.text).toContain('further steps are left out');
  });

  test('stays some megabytes large, whatever is put in', () => {
    const trace = new Trace();
    const text = 'x'.repeat(1_000_000);
    for (let i = 0; i < 300; i++) trace.add({ by: 'r', kind: 'tool', tool: 't', text, arguments: { text } });

    expect(JSON.stringify(trace.entries).length).toBeLessThan(5_000_000);
  });

  test.each([
    ['nested too deep', nested(20), 'arguments nested deeper than 16'],
    ['with half a character in a key', { '\ud800': 1 }, '{"\\ud800":1}'],
    ['with half a character in a value', { a: ['\ud800'] }, '{"a":["\\ud800"]}'],
  ])('keeps arguments %s as a text that can travel', (_, given, text) => {
    const trace = new Trace();
    trace.add({ by: 'r', kind: 'tool', tool: 't', arguments: given, text: '' });

    expect(trace.entries[0]?.arguments).toEqual({ cut: text });
  });
});

test.each([
  [0, 'a', false],
  [0, {}, true],
  [2, nested(1), false],
  [2, nested(2), true],
  [2, [[[]]], true],
])('a nesting of more than %i is found where it is: %j', (most, value, expected) => {
  expect(isDeeper(value, most)).toBe(expected);
});

test.each([
  ['short', 100, 'short'],
  ['x'.repeat(41), 40, 'xxxxxxxxxx… [cut: 41 characters in all]'],
  ['half \ud83d', 100, 'half \ufffd'],
])('a text is cut to its bound, mark included', (text, most, expected) => {
  expect(cutText(text, most).replace(/^x+/, 'xxxxxxxxxx')).toBe(expected);
  expect(cutText(text, most).length).toBeLessThanOrEqual(most);
});
