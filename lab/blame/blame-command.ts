import { positiveInteger } from '@gaia-mesh/cli/command-line/option-values.ts';
import type { MeasuredPart } from '@gaia-mesh/evaluation/terminal/docs-page.ts';
import { markdownTable } from '@gaia-mesh/evaluation/terminal/markdown-table.ts';
import { complain } from '@gaia-mesh/evaluation/terminal/print.ts';
import { decimals, table } from '@gaia-mesh/evaluation/terminal/table.ts';
import { startModelServer } from '@gaia-mesh/tools/fixtures/model-server.ts';
import type { Command } from 'commander';
import { inFolder } from '../measure/bench-runs.ts';
import { type PublishOptions, publisher } from '../measure/publish.ts';
import { honestTrial, type Known, known, lieTrial, settingsIn, type Trial } from './trials.ts';
import { type Temper, witness } from './witness.ts';

interface Options extends PublishOptions {
  readonly trials: number;
  readonly only: string;
}

/** How often the witness says another number than it knows, while blame asks it. */
const SLIPS = 0.1;
const SEED = 20_261_124;
/** Of ten lies so many must be named first, and of ten honest runs so many must leave everybody in peace. */
const FLOORS = { lies: 0.8, honest: 0.9 };

export function blameTrialsCommand(command: Command): void {
  command
    .option('--trials <n>', 'lies, and as many honest runs', positiveInteger, 10)
    .option('--only <text>', 'settings with this in their name, e.g. embedded, or witness panel', '')
    .option('--json', 'print the results as one JSON value')
    .option('--write', 'write docs/results/blame.md')
    .action(run);
}

/** Plants lies at places that seeds draw, and counts how often blame names them first, and whom it names where nobody lied. */
async function run({ trials, only, ...options }: Options): Promise<void> {
  const publish = publisher('docs/results/blame.md', options);
  const temper: Temper = { slips: 0 };
  const server = await startModelServer(witness(temper, SEED), { capabilities: ['completion', 'tools'] });
  const results = await inFolder((folder) => tryAll(folder)).finally(() => server.close());
  const measured = figuresOf(results);
  const { figures, text } = measured;
  await publish({ report: { ...results, ...figures }, text, part: pageOf(results, measured) });
  if (!measured.isEnough) process.exitCode = 1;

  async function tryAll(folder: string): Promise<Results> {
    const live = { temper, slips: SLIPS };
    const all: Known[] = [];
    for (const setting of settingsIn(folder, server.url).filter(({ name }) => name.includes(only)))
      all.push(await known(setting, folder));
    const done: Trial[] = [];
    let harmless = 0;
    const add = (trial: Trial) => {
      done.push(trial);
      complain(rowOf(trial).join('  '));
    };
    for (let i = 0; i < trials; i++) {
      const lied = await lieTrial(all, folder, SEED + i, live);
      harmless += lied.harmless;
      add(lied.trial);
    }
    // In turn: of each setting one that is right and one that is wrong, as far as there are such.
    const honest = [true, false].flatMap((isRight) =>
      all.flatMap((one) => {
        const answer = one.answers.find(
          ({ correct, status }) => correct === isRight && status === 'answered',
        );
        return answer === undefined ? [] : [{ one, id: answer.task_id }];
      }),
    );
    for (let i = 0; i < trials; i++) {
      const chosen = honest[i % honest.length];
      if (chosen !== undefined) add(await honestTrial(chosen.one, chosen.id, live));
    }
    return { trials: done, harmless };
  }
}

interface Results {
  readonly trials: readonly Trial[];
  /** Lies that left the answer right, and were drawn again. */
  readonly harmless: number;
}

const HEADING = ['', 'setting', 'question', 'answer', 'messages', 'lie', 'named first', 'change'];

function rowOf({
  setting,
  question,
  lie,
  isRight,
  messages,
  named,
  difference,
  isAsItShould,
}: Trial): string[] {
  return [
    isAsItShould ? '✓' : '✗',
    ...[setting, question, isRight ? 'right' : 'wrong', String(messages)],
    ...[lie ?? 'none', named ?? 'nobody', difference === null ? '–' : decimals(difference, 2)],
  ];
}

interface Figures {
  readonly figures: { readonly recall: number; readonly precision: number; readonly peace: number };
  readonly sentence: string;
  readonly text: string;
  readonly isEnough: boolean;
}

function figuresOf({ trials, harmless }: Results): Figures {
  const lies = trials.filter(({ lie }) => lie !== null);
  const honest = trials.filter(({ lie }) => lie === null);
  const found = lies.filter(({ isAsItShould }) => isAsItShould).length;
  const peace = honest.filter(({ named }) => named === null).length;
  const named = trials.filter((trial) => trial.named !== null).length;
  const sentence = `Of ${lies.length} lies ${found} were named first; of ${honest.length} honest runs ${peace} had nobody named. Of ${named} who were named ${found} had lied. ${harmless} lies more were drawn that left the answer right.`;
  return {
    figures: { recall: found / lies.length, precision: found / named, peace: peace / honest.length },
    sentence,
    text: [table([HEADING, ...trials.map(rowOf)]), sentence].join('\n'),
    isEnough: found >= FLOORS.lies * lies.length && peace >= FLOORS.honest * honest.length,
  };
}

function pageOf({ trials }: Results, { sentence }: Figures): MeasuredPart {
  return {
    facts: `${trials.length} questions, each with real agents; seeds from ${SEED}; the witness slips in ${SLIPS * 100} % of its replies while blame asks`,
    body: [sentence, '', markdownTable([HEADING, ...trials.map(rowOf)])].join('\n'),
    limits: [
      'Lies are false names and numbers in whole packets: coarser than what a model gets wrong by itself.',
      'The embedded engine says the same each time (its temperature is 0 here), and the witness is a script with chance in it. A language model varies in other ways.',
      'Honest answers that are wrong here are wrong each time: that nobody is named for them is how blame is meant, see the page about it.',
    ],
  };
}
