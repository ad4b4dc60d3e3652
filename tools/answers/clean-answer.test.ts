import { cpuMs } from '@gaia-mesh/core/testing/cpu-time.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cleanAnswer, findNonAnswer, hasStatedAnswer } from './clean-answer.ts';

test.each([
  ['FINAL ANSWER: 42', '42'],
  ['final answer: 42', '42'],
  ['Final Answer : 42', '42'],
  ['  FINAL ANSWER:   42  ', '42'],
  ['**FINAL ANSWER:** 42', '42'],
  ['**FINAL ANSWER: 42**', '42'],
  ['FINAL ANSWER**: 42', '42'],
  ['I thought about it.\nFINAL ANSWER: egalitarian\nI hope this helps.', 'egalitarian'],
  ['FINAL ANSWER: 1\nNo, wait.\nFINAL ANSWER: 2', '2'],
  ['FINAL ANSWER:\n42', '42'],
  ['FINAL ANSWER: 42\nFINAL ANSWER:', '42'],
  ['FINAL ANSWER: [42]', '42'],
  ['FINAL ANSWER: [a, b, c].', 'a, b, c'],
  ['FINAL ANSWER: "St. Petersburg".', 'St. Petersburg'],
  ['FINAL ANSWER: “Guava”', 'Guava'],
  ['FINAL ANSWER: *The Lark*', 'The Lark'],
  ['FINAL ANSWER: `x = 1`', 'x = 1'],
  ['42', '42'],
  ['  plain text  ', 'plain text'],
])('the last FINAL ANSWER counts, its first line, bare: %j → %j (SV-18)', (text, answer) => {
  expect(cleanAnswer(text)).toBe(answer);
});

test.each([
  ['FINAL ANSWER: (a) and (b)', '(a) and (b)'],
  ["FINAL ANSWER: 'x' or 'y'", "'x' or 'y'"],
  ['FINAL ANSWER: [["a"]]', 'a'],
  ['FINAL ANSWER: [a], [b]', '[a], [b]'],
  ['FINAL ANSWER: f(x)', 'f(x)'],
])('one pair around the whole is stripped, no other: %j → %j (SV-18)', (text, answer) => {
  expect(cleanAnswer(text)).toBe(answer);
});

test.each([
  ['FINAL ANSWER: 3.', '3'],
  ['FINAL ANSWER: No.', 'No'],
  ['FINAL ANSWER: U.S.A.', 'U.S.A.'],
  ['FINAL ANSWER: Acme Inc.', 'Acme Inc.'],
  ['FINAL ANSWER: John F.', 'John F.'],
  ['FINAL ANSWER: ...', '...'],
  ['FINAL ANSWER: $1,234.50', '$1,234.50'],
])('a full stop goes, one that is part of the answer stays: %j → %j (SV-18)', (text, answer) => {
  expect(cleanAnswer(text)).toBe(answer);
});

test.each([
  ['```json {"answer":"4"}```', '4'],
  ['```json\n{"answer": "4"}\n```', '4'],
  ['{"final_answer": 17, "reasoning_trace": "…"}', '17'],
  ['{"Final Answer": "17"}', '17'],
  ['{"answer": {"answer": "4"}}', '4'],
  ['{"answer": ["a", "b"]}', 'a, b'],
  ['{"answer": true}', 'true'],
  ['["a","b"]', 'a, b'],
  ['{"answer": "4",}', '4'],
  ["{'answer': 'four'}", 'four'],
  ['{"content": "I see. FINAL ANSWER: 9"}', '9'],
  ['Thinking …\n```json\n{"thought": "hm", "answer": "b, e"}\n```', 'b, e'],
  ['I think {"answer": "x"} is it', 'x'],
  ['FINAL ANSWER: {"answer": "4"}', '4'],
  ['```\n42\n```', '42'],
])('JSON and blocks of code go first: %j → %j (RA-11)', (text, answer) => {
  expect(cleanAnswer(text)).toBe(answer);
});

test.each([
  ['The answer is 4.', '4'],
  ['The final answer is: **Rd5**', 'Rd5'],
  ['So the answer is 4.5 because of the tax.', '4.5'],
  ['The answer to the question is Dr. Smith. He lived there.', 'Dr. Smith'],
  ['Let me see. 2 + 2.\nAnswer: 4', '4'],
  ['Hence \\boxed{42}.', '42'],
  ['<answer>42</answer>', '42'],
  ['<think>FINAL ANSWER: 3</think>FINAL ANSWER: 4', '4'],
  ["I don't know what the answer is", "I don't know what the answer is"],
])('then explanations: %j → %j (RA-11)', (text, answer) => {
  expect(cleanAnswer(text)).toBe(answer);
});

test.each([
  '',
  '   ',
  '**',
  'FINAL ANSWER:',
  'FINAL ANSWER: [YOUR FINAL ANSWER]',
  '{"answer": ""}',
  '```\n```',
  'The answer to this question is:',
  'The answer to this question is:\n\nThe answer to this question is:\n\nThe answer to this question is',
])('what holds no answer is none, never an empty one: %j (RA-12)', (text) => {
  expect(cleanAnswer(text)).toBeNull();
});

test.each([
  ['The answer is:\n\nBing Crosby', 'Bing Crosby'],
  ['The answer is: Bing Crosby\n\nThe answer is:', 'Bing Crosby'],
  ['**The answer is:**\nThe answer is:\nBing Crosby.', 'Bing Crosby'],
])('a line that only announces the answer is none: %j → %j (RA-12)', (text, answer) => {
  expect(cleanAnswer(text)).toBe(answer);
});

test.each([
  ['272 bicycles', '272 bicycles'],
  ['White; 5876', 'White; 5876'],
  ['3.1.3.1; 1.11.1.7', '3.1.3.1; 1.11.1.7'],
  ['Elm, 4239', 'Elm, 4239'],
  ['300 m (984 ft)', '300 m (984 ft)'],
  ['1,234', '1,234'],
])('an answer is not fitted to what a question may have asked for: %j', (said, answer) => {
  expect(cleanAnswer(`FINAL ANSWER: ${said}`)).toBe(answer);
  expect(cleanAnswer(said)).toBe(answer);
});

test.each([
  ['### FINAL ANSWER\nParis', 'Paris'],
  ['**Final Answer**\n\n42', '42'],
  ['FINAL ANSWER: Paris<|im_end|>', 'Paris'],
  ['Paris</s><|eot_id|>\n', 'Paris'],
  ['FINAL ANSWER: $\\boxed{42}$', '42'],
  ['FINAL ANSWER: \\(\\boxed{\\text{Paris}}\\)', 'Paris'],
  ['FINAL ANSWER:\n```\nx = 1\n```', 'x = 1'],
])('as local models write it: %j → %j', (text, answer) => {
  expect(cleanAnswer(text)).toBe(answer);
});

test('what has been cleaned is not changed by cleaning it again', () => {
  const words = fc.constantFrom(
    ...['FINAL ANSWER:', 'The answer is', '\\boxed{', '}', '**', '"', '[', ']', '.', '{"answer": "', '"}'],
    ...['heron', '4', ' ', '\n', '```', '<answer>', '</answer>', '</think>', '<|im_end|>'],
  );
  fc.assert(
    fc.property(fc.array(words, { maxLength: 12 }), (parts) => {
      const once = cleanAnswer(parts.join(''));
      if (once !== null) expect(cleanAnswer(once)).toBe(once);
    }),
  );
});

test.each([
  ['FINAL ANSWER: 4', true],
  ['Let me see.\n```json\n{"answer": "4"}\n```', true],
  ['The answer is 4.', true],
  ['Hence \\boxed{4}', true],
  ['I will now look at the image.', false],
  ['4', false],
  ['FINAL ANSWER:', false],
  ['', false],
])('whether a reply says which of its words are the answer: %j → %j', (text, expected) => {
  expect(hasStatedAnswer(text)).toBe(expected);
});

describe('text that was made to take long', () => {
  test.each([
    ['marks', 'FINAL ANSWER:'.repeat(15_000)],
    ['stars', `x${'*'.repeat(200_000)}`],
    ['stops', `x${'. '.repeat(100_000)}`],
    ['braces', '{'.repeat(200_000)],
    ['quotes', '"'.repeat(200_000)],
    ['fences', '```'.repeat(60_000)],
    ['statements', 'the answer is\n'.repeat(14_000)],
    ['boxes', '\\boxed{'.repeat(28_000)],
  ])('%s', (_, text) => {
    const startMs = cpuMs();
    cleanAnswer(text);
    findNonAnswer(text);
    expect(cpuMs() - startMs).toBeLessThan(5_000);
  });
});

test.each([
  ['FINAL ANSWER - 42', '42'],
  ['FINAL ANSWER – 42', '42'],
  ['**FINAL ANSWER** — 42', '42'],
  ['*FINAL ANSWER* - 42', '42'],
  ['FINAL ANSWER—42', '42'],
  ['FINAL ANSWER -42', '-42'],
  ['FINAL ANSWER: -42', '-42'],
  ['FINAL ANSWER 42', '42'],
  ['Final answer -> 42', '42'],
  ['FINAL ANSWER - White - Red', 'White - Red'],
  ['## Answer\n\n42', '42'],
  ['**Answer**\n42', '42'],
  ['Answer – Paris', 'Paris'],
  ['Es sind viele.\n\nDie endgültige Antwort lautet: 42', '42'],
  ['**Endgültige Antwort:** 42', '42'],
  ['La réponse finale est : 42', '42'],
  ['Respuesta final: 42', '42'],
  ['Ответ: 42', '42'],
  ['最终答案：42', '42'],
  ['答案是42', '42'],
  ['最終回答: 42', '42'],
])('an answer is stated by any stroke, heading or language: %j (SV-18)', (text, answer) => {
  expect(cleanAnswer(text)).toBe(answer);
  expect(hasStatedAnswer(text)).toBe(true);
});

test.each([
  ['I’m sorry, but I can’t help with that.', 'refusal'],
  ["I'm unable to view images.", 'refusal'],
  ['As an AI, I cannot determine the answer.', 'refusal'],
  ['Es tut mir leid, dabei kann ich nicht helfen.', 'refusal'],
  ['抱歉，我无法回答。', 'refusal'],
  ["FINAL ANSWER: I'm sorry, but I can't help with that", 'refusal'],
  ['I need query_table for this', 'announcement'],
  ['I will now analyze the image to read the menu.', 'announcement'],
  ['Okay, first, let me look at the table.', 'announcement'],
  ['To answer this, we need to open the file.', 'announcement'],
  ['Ich brauche query_table dafür.', 'announcement'],
  ['Using query_table.', 'announcement'],
  ['Paris', undefined],
  ['It is a heron.', undefined],
  ['Perhaps the bird number 12.', undefined],
  ["I'm sorry, but I can't help with that part. FINAL ANSWER: 42", undefined],
  ["FINAL ANSWER: I Can't Help Myself", undefined],
  ['FINAL ANSWER: I Will Survive', undefined],
  ['FINAL ANSWER: unknown', undefined],
])('%j is no answer if it is a refusal or an announcement: %s (RA-12, RA-21)', (text, kind) => {
  expect(findNonAnswer(text, ['query_table'])).toBe(kind);
});
