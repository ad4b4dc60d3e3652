import { expect, test, vi } from 'vitest';
import { createBatchProgress } from './batch-progress.ts';
import { attemptOf } from './testing/results.ts';

test('a resumed batch counts all its answers, and says how many an earlier run gave', async () => {
  let printed = '';
  vi.spyOn(process.stderr, 'write').mockImplementation((chunk) => {
    printed += String(chunk);
    return true;
  });
  const progress = await createBatchProgress(4, 'questions');
  progress.event({ kind: 'kept', attempt: attemptOf('q1') });
  progress.event({ kind: 'kept', attempt: attemptOf('q2', { correct: false }) });
  progress.event({ kind: 'finished', attempt: attemptOf('q3') });
  progress.event({ kind: 'finished', attempt: attemptOf('q4', { status: 'failed', correct: false }) });
  progress.end();
  vi.restoreAllMocks();
  expect(printed.replaceAll(/, about .* left/g, '').split('\n')).toEqual([
    '1/4 questions, 1 answered (1 before), 1 right',
    '2/4 questions, 2 answered (2 before), 1 right',
    '3/4 questions, 3 answered (2 before), 2 right',
    '4/4 questions, 3 answered (2 before), 2 right',
    '',
  ]);
});
