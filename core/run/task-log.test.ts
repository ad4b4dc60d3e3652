import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { buildDocumentPayload, type Task } from '../contracts/task.ts';
import { TaskLog } from './task-log.ts';

function logged(tasks: readonly Task[]) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-task-log-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'tasks.jsonl');
  const log = new TaskLog(file);
  for (const task of tasks) log.add(task);
  onTestFinished(() => log.close());
  return { log, file };
}

const task = (taskId: string, document: string): Task => ({
  taskId,
  question: `what of ${taskId}? ✅`,
  document,
  truths: ['yes', 'aye'],
  fileName: 'a.txt',
});

test('gives back the payload that opened a task, and knows no other', () => {
  const tasks = [task('a', 'é '.repeat(1000)), task('b', ''), task('c', 'x'.repeat(100_000))];
  const { log } = logged(tasks);
  for (const one of tasks) expect(log.payloadOf(one.taskId)).toEqual(buildDocumentPayload(one));
  expect(log.payloadOf('d')).toBeUndefined();
});

test('has a line a task, which only its user may read, and one that is asked again once', () => {
  const { file } = logged([task('a', 'one'), task('b', 'two'), task('a', 'one')]);
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line).task_id)).toEqual(['a', 'b']);
  expect(JSON.parse(lines[0] ?? '')).toEqual({
    task_id: 'a',
    question: 'what of a? ✅',
    document: 'one',
    answer: 'yes',
    aliases: ['aye'],
    file_name: 'a.txt',
  });
  expect(statSync(file).mode & 0o777).toBe(0o600);
});
