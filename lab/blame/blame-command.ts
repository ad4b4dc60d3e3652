import { defineOptions } from '@gaia-mesh/cli/command-line/options.ts';
import { defineTable, flag, option, text, wholeNumber } from '@gaia-mesh/evaluation/plan/option-table.ts';
import type { MeasuredPart } from '@gaia-mesh/evaluation/terminal/docs-page.ts';
import { formatMarkdownTable } from '@gaia-mesh/evaluation/terminal/markdown-table.ts';
import { printError } from '@gaia-mesh/evaluation/terminal/print.ts';
import { formatDecimals, formatTable } from '@gaia-mesh/evaluation/terminal/table.ts';
import { startModelServer } from '@gaia-mesh/tools/fixtures/model-server.ts';
import type { Command } from 'commander';
import * as z from 'zod';
import { useRunFolder } from '../measure/bench-runs.ts';
import { createPublisher } from '../measure/publish.ts';
import {
  answerHonestly,
  createSettings,
  type Known,
  runHonestTrial,
  runLieTrial,
  type Trial,
} from './trials.ts';
import { createWitness, type Temper } from './witness.ts';

const blameTable = defineTable({
  options: z.object({
    trials: option('<n>', 'plant this many lies, and make as many honest runs', wholeNumber.default(10)),
    only: option(
      '<text>',
      'run only settings with this in their name, e.g. embedded, or witness panel',
      text.default(''),
    ),
    json: flag('print the results as one JSON value'),
    write: flag('write docs/results/blame.md'),
  }),
});

/** Probability that the witness reports a wrong number while blame runs. */
const SLIPS = 0.1;
const SEED = 20_261_124;
/** Minimum shares: of lies that are named first, and of honest runs in which no message is blamed. */
const FLOORS = { lies: 0.8, honest: 0.9 };

export function blameTrialsCommand(command: Command): void {
  defineOptions(command, blameTable, run);
}

/**
 * Plants lies at random places, and counts how often blame names them first, and which messages it names in honest
 * runs.
 */
async function run({ trials, only, ...options }: z.output<typeof blameTable.options>): Promise<void> {
  const publish = createPublisher('docs/results/blame.md', options);
  const temper: Temper = { slips: 0 };
  const server = await startModelServer(createWitness(temper, SEED), {
    capabilities: ['completion', 'tools'],
  });
  const results = await useRunFolder((folder) => tryAll(folder)).finally(() => server.close());
  const measured = summarizeTrials(results);
  const { figures, text } = measured;
  await publish({ report: { ...results, ...figures }, text, part: buildBlamePage(results, measured) });
  if (!measured.isEnough) process.exitCode = 1;

  async function tryAll(folder: string): Promise<Results> {
    const live = { temper, slips: SLIPS };
    const all: Known[] = [];
    for (const setting of createSettings(folder, server.url).filter(({ name }) => name.includes(only)))
      all.push(await answerHonestly(setting, folder));
    const done: Trial[] = [];
    let harmless = 0;
    const add = (trial: Trial) => {
      done.push(trial);
      printError(formatTrialRow(trial).join('  '));
    };
    for (let i = 0; i < trials; i++) {
      const lied = await runLieTrial(all, folder, SEED + i, live);
      harmless += lied.harmless;
      add(lied.trial);
    }
    // Takes one right and one wrong answer of each setting in turn, as far as they exist.
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
      if (chosen !== undefined) add(await runHonestTrial(chosen.one, chosen.id, live));
    }
    return { trials: done, harmless };
  }
}

interface Results {
  readonly trials: readonly Trial[];
  /** Lies that left the answer right and were drawn again. */
  readonly harmless: number;
}

const HEADING = ['', 'setting', 'question', 'answer', 'messages', 'lie', 'named first', 'change'];

function formatTrialRow({
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
    ...[lie ?? 'none', named ?? 'nobody', difference === null ? '–' : formatDecimals(difference, 2)],
  ];
}

interface Figures {
  readonly figures: { readonly recall: number; readonly precision: number; readonly peace: number };
  readonly sentence: string;
  readonly text: string;
  readonly isEnough: boolean;
}

function summarizeTrials({ trials, harmless }: Results): Figures {
  const lies = trials.filter(({ lie }) => lie !== null);
  const honest = trials.filter(({ lie }) => lie === null);
  const found = lies.filter(({ isAsItShould }) => isAsItShould).length;
  const peace = honest.filter(({ named }) => named === null).length;
  const named = trials.filter((trial) => trial.named !== null).length;
  const sentence = `Of ${lies.length} lies ${found} were named first; of ${honest.length} honest runs ${peace} had nobody named. Of ${named} who were named ${found} had lied. ${harmless} lies more were drawn that left the answer right.`;
  return {
    figures: { recall: found / lies.length, precision: found / named, peace: peace / honest.length },
    sentence,
    text: [formatTable([HEADING, ...trials.map(formatTrialRow)]), sentence].join('\n'),
    isEnough: found >= FLOORS.lies * lies.length && peace >= FLOORS.honest * honest.length,
  };
}

function buildBlamePage({ trials }: Results, { sentence }: Figures): MeasuredPart {
  return {
    facts: `${trials.length} questions, each with real agents; seeds from ${SEED}; the witness slips in ${SLIPS * 100} % of its replies while blame asks`,
    body: [sentence, '', formatMarkdownTable([HEADING, ...trials.map(formatTrialRow)])].join('\n'),
    limits: [
      'Lies are false names and numbers in whole packets: coarser than what a model gets wrong by itself.',
      'The embedded engine says the same each time (its temperature is 0 here), and the witness is a script with chance in it. A language model varies in other ways.',
      'Honest answers that are wrong here are wrong each time: that nobody is named for them is how blame is meant, see the page about it.',
    ],
  };
}
