import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from './cli.ts';

/** Writes a team file and returns its path. JSON is YAML, too. */
export function teamFile(team: Readonly<Record<string, unknown>>): string {
  const file = path.join(temporaryFolder(), 'team.yaml');
  writeFileSync(file, JSON.stringify({ version: 1, name: 'test', ...team }, null, 2));
  return file;
}

/** Writes a file into `folder` and returns its path. */
export function writtenFile(folder: string, name: string, content: string | Uint8Array): string {
  const file = path.join(folder, name);
  writeFileSync(file, content);
  return file;
}

/** Writes a task file, one JSON line per task. */
export function taskFile(tasks: readonly object[]): string {
  return writtenFile(
    temporaryFolder(),
    'tasks.jsonl',
    tasks.map((task) => `${JSON.stringify(task)}\n`).join(''),
  );
}

/** Creates a document and a question that no tool has to understand: the tests' own agents answer. */
export function noteQuestion(folder: string): string[] {
  return ['--document', writtenFile(folder, 'note.txt', 'A short note.'), '--question', 'What is it?'];
}
