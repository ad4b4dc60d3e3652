import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { callCli } from './call-cli.ts';
import { temporaryFolder } from './cli.ts';

/** Facts for the pipeline on its embedded engine: real agents, and no model. */
export const FACTS = {
  lamp: 'The lamp of the tower was lit for the first time on 3 October 1868. It burned for eighty years.',
  bridge: 'The bridge over the Orra was built by Ida Lund. Its stones came from Tromsø.',
  clock: 'The clock of the town hall was made by Zoë Müller in 1921. It has never stopped.',
};
export const QUESTIONS = [
  {
    task_id: 'lamp',
    Question: 'On what date was the lamp lit for the first time?',
    Level: 1,
    'Final answer': '3 October 1868',
    file_name: 'lamp.txt',
  },
  {
    task_id: 'bridge',
    Question: 'Who built the bridge over the Orra?',
    Level: '2',
    'Final answer': 'Ida Lund',
    file_name: 'bridge.txt',
  },
  {
    task_id: 'clock',
    Question: 'Who made the clock of the town hall?',
    Level: 1,
    'Final answer': 'Zoë Müller',
    file_name: 'clock.txt',
  },
];

/** Creates a folder with questions and their files. */
export function place(questions: readonly object[] = QUESTIONS): string {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(FACTS)) writeFileSync(path.join(folder, `${name}.txt`), text);
  writeFileSync(path.join(folder, 'q.jsonl'), questions.map((line) => JSON.stringify(line)).join('\n'));
  return folder;
}

/** Runs `gaia` on the questions of a folder, with options that the given ones replace. */
export function run(cwd: string, ...args: string[]) {
  const usual = { '--team': 'pipeline', '--questions': 'q.jsonl', '--out': 'a.jsonl' };
  const kept = Object.entries(usual).filter(([flag]) => !args.includes(flag));
  return callCli(['gaia', ...kept.flat(), ...args], { cwd });
}

/** Options of a batch in which a team answers one question after the other, without the cache. */
export const oneByOne = (team: string): readonly string[] => [
  ...['--team', team, '--questions', 'q.jsonl', '--out', 'a.jsonl'],
  ...['--no-cache', '--concurrency', '1'],
];
