import { expect, test } from 'vitest';
import { answerPlace } from './bench.ts';

const text = 'Node runs it.\n\nThe ship left in 1868.\nNode was not\nthere then (1868).';

test('an answer is found by its line, or by its page where the document has pages', () => {
  expect(answerPlace({ text }, 'The ship left', undefined)).toBe('line 3');
  expect(answerPlace({ text, pageStarts: [0, 15, 38] }, 'The ship left', undefined)).toBe('page 2');
  expect(answerPlace({ text, pageStarts: [0, 15, 38] }, 'Node', undefined)).toBe('page 1');
});

test('of several places it is that of the evidence, whose white space may be another', () => {
  expect(answerPlace({ text }, '1868', 'Node was  not there then')).toBe('line 5');
  expect(answerPlace({ text, pageStarts: [0, 15, 38] }, 'Node', 'Node was not there')).toBe('page 3');
});

test('what is not in the document has no place, and characters of patterns are themselves', () => {
  expect(answerPlace({ text }, 'a barque', undefined)).toBeUndefined();
  expect(answerPlace({ text }, '(1868).', undefined)).toBe('line 5');
  expect(answerPlace({ text }, '.*', undefined)).toBeUndefined();
  expect(answerPlace({ text }, ' ', undefined)).toBeUndefined();
});
