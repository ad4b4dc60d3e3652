import { describe, expect, test } from 'vitest';
import { formatTokenLines } from './token-shares.ts';

const by = { role: 'react_step', packet_type: 'doc_init', model: 'm' };
const prompt = (kind: 'tools' | 'question' | 'residual', tokens: number, read = 1) => ({
  ...by,
  kind,
  tokens,
  read,
});
const completion = (kind: 'answer' | 'tool_calls' | 'residual', tokens: number) => ({ ...by, kind, tokens });

describe('what prompts and replies were made of', () => {
  const known = [prompt('tools', 300), prompt('tools', 300, 2), prompt('question', 400)];
  const figures = { estimated: false, uncounted: 0 };

  test('is in shares of what is known, with what was read before', () => {
    const replies = [completion('answer', 30), completion('tool_calls', 10)];
    expect(formatTokenLines({ ...figures, prompt: known, completion: replies })).toEqual([
      'Prompts: tool definitions 60.0 %, 30.0 % of all read again; the question 40.0 %.',
      'Replies: text 75.0 %; tool calls 25.0 %.',
    ]);
  });

  test('is so, too, where the server counts only what it had not kept, or more', () => {
    const fewer = { prompt: [...known, prompt('residual', -900)], completion: [completion('answer', 30)] };
    expect(formatTokenLines({ ...figures, ...fewer })[0]).toMatch(
      /the question 40\.0 %; the server counts 90\.0 % fewer\.$/,
    );
    const more = {
      prompt: [...known, prompt('residual', 20)],
      completion: [completion('answer', 30), completion('residual', 3)],
    };
    expect(formatTokenLines({ ...figures, ...more })).toEqual([
      expect.stringMatching(/; the server counts 2\.0 % more\.$/),
      'Replies: text 100.0 %; the server counts 10.0 % more.',
    ]);
  });

  test('is nothing where no model was asked', () => {
    expect(formatTokenLines({ ...figures, prompt: [], completion: [] })).toEqual([]);
  });
});
