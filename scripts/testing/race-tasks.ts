import { taskFile } from './team-file.ts';

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
