import { expect, test } from 'vitest';
import { readChosenTasks } from './task-source.ts';

test('a question without a document is about that of a task, which is named', async () => {
  const { tasks, notes } = await readChosenTasks({ question: 'How many lamps?', task: 'hathe-restoration' });
  expect(tasks).toMatchObject([{ question: 'How many lamps?', truths: [] }]);
  expect(notes).toEqual([
    expect.stringMatching(
      /^no --document was given: the question is about that of --task hathe-restoration \(/,
    ),
  ]);
  expect((await readChosenTasks({})).notes).toEqual([]);
});
