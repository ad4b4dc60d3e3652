import { expect, test } from 'vitest';
import { WrongAnswers } from './wrong-answers.ts';

const question = { id: 'q-1', question: 'Which bridge is longer?', truth: 'Tay | Tay Bridge' };

test('a batch without a wrong answer says nothing of them', () => {
  const wrong = new WrongAnswers();
  wrong.add(question, []);
  expect(wrong.lines()).toEqual([]);
});

test('the first five wrong answers are shown with question, truth and answer, in 80 columns', () => {
  const wrong = new WrongAnswers();
  for (let i = 0; i < 7; i++) {
    wrong.add({ ...question, id: `q-${i}`, question: 'long '.repeat(60) }, [['single', `Forth ${i}`]]);
  }
  const lines = wrong.lines();
  expect(lines[0]).toContain('7; the first 5:');
  expect(lines.filter((line) => line.includes('Forth'))).toHaveLength(5);
  expect(lines.slice(1, 5).map((line) => line.trim().split(/\s+/)[0])).toEqual([
    'q-0',
    'question',
    'truth',
    'answer',
  ]);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
});

test('where teams differ each wrong answer has its team', () => {
  const wrong = new WrongAnswers();
  wrong.add(question, [
    ['single', 'Forth'],
    ['react', 'Humber'],
  ]);
  const text = wrong.lines().join('\n');
  expect(text).toMatch(/2 to 1 questions/);
  expect(text).toMatch(/single +Forth/);
  expect(text).toMatch(/react +Humber/);
});

test('what comes from outside cannot drive the terminal', () => {
  const wrong = new WrongAnswers();
  wrong.add({ ...question, truth: 'a\u001b[2Jb' }, [['single', 'x\u202ey\nz']]);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is what must not be there
  expect(wrong.lines().join('')).not.toMatch(/\u001b\[2J|\u202e|\n/);
});
