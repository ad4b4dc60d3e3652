import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { expect, test } from 'vitest';
import { isWtqCorrect } from './wtq.ts';

const vectors = path.join(codeFolder, '..', 'shared', 'data', 'wtq', 'evaluator_vectors.jsonl');

test.skipIf(!existsSync(vectors))(
  'judges as the official evaluator does (golden cases, where they are at hand)',
  () => {
    const cases = readFileSync(vectors, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const wrong = cases.filter(
      ({ answers, predicted, correct }) => isWtqCorrect(answers, predicted) !== correct,
    );
    expect(wrong).toEqual([]);
    expect(cases.length).toBeGreaterThan(300);
  },
);

test.each([
  [['3'], ['3.0'], true],
  [['3'], ['three'], false],
  [['Zürich'], ['Zurich [1]'], true],
  [['The Mill'], ['"the mill"'], true],
  [['a', 'b'], ['b', 'a'], true],
  [['a', 'b'], ['a'], false],
  [['1990-05-xx'], ['1990-5-xx'], true],
  [['1990-xx-xx'], ['1990'], true],
  [['1990-05-02'], ['1990-05-03'], false],
])('%j against %j: %s', (answers, predicted, correct) => {
  expect(isWtqCorrect(answers, predicted)).toBe(correct);
});
