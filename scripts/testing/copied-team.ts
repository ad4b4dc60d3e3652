import path from 'node:path';
import { jsonLines } from './cli.ts';
import { taskFile, teamFile } from './team-file.ts';

/** The default team with two copies of its slowest agent. */
export function copiedTeam(further: Readonly<Record<string, unknown>> = {}): string {
  const agents = [
    { id: 0, tool: 'search' },
    { id: 1, tool: 'extract' },
    { id: 2, tool: 'triple', copies: 2 },
    { id: 3, tool: 'reason' },
  ];
  return teamFile({ final: 3, agents, ...further });
}

/** A file of `count` tasks with an answer each. */
export function raceTasks(count: number): string {
  return taskFile(
    Array.from({ length: count }, (_, i) => ({
      task_id: `race-${i}`,
      question: 'When was the race in Tromsø?',
      document: `Zoë Müller won the race in Tromsø in ${1900 + i}. Tokyo was second. It rained. The prize was a bell.`,
      answer: String(1900 + i),
    })),
  );
}

/** The right answers of {@link raceTasks}. */
export function raceAnswers(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`race-${i}`, String(1900 + i)]));
}

/** The tasks of which the agent `id` of the run in `out` has heard anything, by its own log. */
export function heardBy(out: string, id: string): Set<unknown> {
  const log = jsonLines(path.join(out, 'workspaces', id, 'agent.log'));
  return new Set(log.filter(({ dir }) => dir === 'received').map(({ task_id }) => task_id));
}
