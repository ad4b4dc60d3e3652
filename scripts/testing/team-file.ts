import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { loadTeam } from '@gaia-mesh/evaluation/teams/load-team.ts';
import { temporaryFolder } from './cli.ts';

/** Writes a team file and returns its path. JSON is YAML, too. */
export function teamFile(team: Readonly<Record<string, unknown>>): string {
  const file = path.join(temporaryFolder(), 'team.yaml');
  writeFileSync(file, JSON.stringify({ version: 1, name: 'test', ...team }, null, 2));
  return file;
}

/** Writes a shipped team with some of its agents, since each is a process, and returns the file's path. */
export function trimTeam(name: string, isKept: (tool: string) => boolean): string {
  const team = loadTeam(name);
  const kept = team.agents.filter(({ tool }) => isKept(tool));
  const ids = kept.map(({ id }) => id);
  const agents = kept.map((agent) => ({
    ...agent,
    may_call: agent.may_call?.filter((id) => ids.includes(id)),
  }));
  return teamFile({ ...team, agents });
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

/** Creates a document, and returns the options that ask about it. The tests' own agents answer without understanding either. */
export function noteQuestion(folder: string): string[] {
  return ['--document', writtenFile(folder, 'note.txt', 'A short note.'), '--question', 'What is it?'];
}
