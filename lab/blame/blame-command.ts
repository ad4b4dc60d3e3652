import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { defineOptions } from '@gaia-mesh/cli/command-line/options.ts';
import { readRecording } from '@gaia-mesh/core/recording/read-archive.ts';
import { parseJsonLine } from '@gaia-mesh/core/system/json-line.ts';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { Random } from '@gaia-mesh/core/system/random.ts';
import { type BlameFile, blameSchema } from '@gaia-mesh/evaluation/blame/blame-file.ts';
import { defineTable, flag, option, text, wholeNumber } from '@gaia-mesh/evaluation/plan/option-table.ts';
import { readQuestions } from '@gaia-mesh/evaluation/questions/read-questions.ts';
import type { MeasuredPart } from '@gaia-mesh/evaluation/terminal/docs-page.ts';
import { formatMarkdownTable } from '@gaia-mesh/evaluation/terminal/markdown-table.ts';
import { printError } from '@gaia-mesh/evaluation/terminal/print.ts';
import { formatDecimals, formatTable } from '@gaia-mesh/evaluation/terminal/table.ts';
import { startModelServer } from '@gaia-mesh/tools/fixtures/model-server.ts';
import type { Command } from 'commander';
import * as z from 'zod';
import { runCommand, useRunFolder } from '../measure/bench-runs.ts';
import { createPublisher } from '../measure/publish.ts';
import { createWitness } from './witness.ts';

const blameTable = defineTable({
  options: z.object({
    trials: option('<n>', 'plant this many lies beside as many honest runs', wholeNumber.default(10)),
    only: option('<text>', 'run settings whose name has this, e.g. witness panel', text.default('')),
    json: flag('print the results as one JSON value'),
    write: flag('write docs/results/blame.md'),
  }),
});

/** Probability that the witness reports a wrong number while blame runs. */
const SLIPS = 0.1;
/** The witness slips only while blame asks, so that no other answer is wrong by chance. */
const temper = { slips: 0 };
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
  const server = await startModelServer(createWitness(temper, SEED), {
    capabilities: ['completion', 'tools'],
  });
  const results = await useRunFolder((folder) => tryAll(folder)).finally(() => server.close());
  const measured = summarizeTrials(results);
  const { figures, text } = measured;
  await publish({ report: { ...results, ...figures }, text, part: buildBlamePage(results, measured) });
  if (!measured.isEnough) process.exitCode = 1;

  async function tryAll(folder: string): Promise<Results> {
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
      const lied = await runLieTrial(all, folder, SEED + i);
      harmless += lied.harmless;
      add(lied.trial);
    }
    // Takes one right and one wrong answer of each setting in turn, as far as they exist.
    const honest = [true, false].flatMap((isRight) =>
      all.flatMap((one) => {
        const answer = one.answers.find(
          ({ correct, status }) => correct === isRight && status === 'answered',
        );
        return answer === undefined ? [] : [{ ...one, id: answer.task_id }];
      }),
    );
    for (let i = 0; i < trials; i++) {
      const chosen = honest[i % honest.length];
      if (chosen === undefined) continue;
      const { setting, out, id } = chosen;
      add(toTrial(setting, await runBlame(setting, out, id), null));
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

/** The beginning of each file, which its question quotes; the fact behind it has to be read. */
const PREAMBLE = `Log of the harbour office. ${'The wind was light, the tide was rising, and nothing of note was seen on the quays. '.repeat(6).trim()}`;

/** Ships with the berths that their files state; the last one's true berth is another. */
const SHIPS = ['411', '302', '587', '264'].map((berth, index) => {
  const file = `ship-${index + 1}.txt`;
  return {
    file,
    text: `${PREAMBLE}\n\nThe ship of the harbour master is moored at berth ${berth} since this morning.`,
    line: {
      task_id: `ship-${index + 1}`,
      question: 'At which berth is the ship in the attached file moored? Give the number only.',
      answer: index === 3 ? '958' : berth,
      file_name: file,
    },
  };
});

/** One question that was blamed. */
interface Trial {
  readonly setting: string;
  readonly question: string;
  /** The lie's `agent@type`; null in an honest run. */
  readonly lie: string | null;
  readonly isRight: boolean;
  readonly messages: number;
  /** The `agent@type` that blame names first; null when it names none. */
  readonly named: string | null;
  readonly difference: number | null;
  readonly isAsItShould: boolean;
}

/** A team with its questions and engine. */
interface Setting {
  readonly name: string;
  readonly team: string;
  readonly questions: string;
  readonly files: string;
  /** Options of the command that select the engine. */
  readonly engine: readonly string[];
}

const answerSchema = z.looseObject({
  task_id: z.string(),
  status: z.string(),
  correct: z.boolean().nullable(),
});
type Answer = z.infer<typeof answerSchema>;

async function runAnswers(setting: Setting, out: string, more: readonly string[] = []): Promise<Answer[]> {
  const { team, questions, files, engine } = setting;
  await runCommand('gaia', [
    ...['--team', team, '--questions', questions, '--files', files, '--out', out, '--no-cache'],
    ...['--port-base', 'auto', ...engine, ...more],
  ]);
  return readFileSync(out, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => parseJsonLine(line, answerSchema, out));
}

async function runBlame(setting: Setting, out: string, id: string): Promise<BlameFile> {
  temper.slips = SLIPS;
  const stdout = await runCommand('gaia', [
    ...['blame', id, '--out', out, '--json', '--port-base', 'auto'],
    ...setting.engine,
  ]).finally(() => {
    temper.slips = 0;
  });
  return blameSchema.parse(JSON.parse(stdout));
}

const resolveArchive = ({ team }: Setting, out: string) =>
  path.join(`${out.slice(0, -path.extname(out).length)}.runs`, team, 'run_artifacts.tar.gz');

/** A setting whose questions were answered honestly. */
interface Known {
  readonly setting: Setting;
  readonly answers: readonly Answer[];
  readonly out: string;
  /** The messages of each question as `agent@type`. */
  readonly places: ReadonlyMap<string, readonly string[]>;
}

/** Maximum draws of a lie; lies that leave the answer right are drawn again. */
const MAX_DRAWS = 40;

/** Creates the settings of the trials: the embedded engine on shipped documents, and a model that slips. */
function createSettings(folder: string, modelUrl: string): Setting[] {
  const ships = path.join(folder, 'ships');
  mkdirSync(ships);
  for (const { file, text } of SHIPS) writeFileSync(path.join(ships, file), text);
  const shipQuestions = path.join(ships, 'questions.jsonl');
  writeFileSync(shipQuestions, SHIPS.map(({ line }) => `${JSON.stringify(line)}\n`).join(''));
  const samples = path.join(codeFolder, 'config', 'samples');
  const textQuestions = path.join(folder, 'texts.jsonl');
  const lines = readFileSync(path.join(samples, 'questions.jsonl'), 'utf8').split('\n');
  writeFileSync(
    textQuestions,
    `${lines.filter((line) => /\.(docx|pdf|pptx|txt|md)"/.test(line)).join('\n')}\n`,
  );
  const texts = {
    questions: textQuestions,
    files: path.join(samples, 'files'),
    engine: ['--engine-option', 'temperature=0'],
  };
  const witness = {
    questions: shipQuestions,
    files: ships,
    engine: ['--base-url', `${modelUrl}/v1`, '--model', 'witness'],
  };
  return [
    ...['pipeline', 'supervisor', 'panel'].map((team) => ({ name: `embedded ${team}`, team, ...texts })),
    ...['supervisor', 'react', 'panel'].map((team) => ({ name: `witness ${team}`, team, ...witness })),
  ];
}

/** Lets a setting answer its questions honestly. */
async function answerHonestly(setting: Setting, folder: string): Promise<Known> {
  const out = path.join(folder, `${setting.name.replace(' ', '-')}.jsonl`);
  const answers = await runAnswers(setting, out);
  const { packets } = await readRecording(resolveArchive(setting, out));
  const places = Map.groupBy(
    packets.filter(({ cause }) => cause !== null),
    ({ packet }) => packet.task_id,
  );
  printError(
    `${setting.name}: ${answers.filter(({ correct }) => correct).length} of ${answers.length} right`,
  );
  return {
    setting,
    answers,
    out,
    places: new Map(
      [...places].map(([id, all]) => [
        id,
        [...new Set(all.map(({ packet: { from, type } }) => `${from}@${type}`))],
      ]),
    ),
  };
}

/** Runs a trial with a lie at a random place, among those that make the answer wrong. */
async function runLieTrial(
  all: readonly Known[],
  folder: string,
  seed: number,
): Promise<{ trial: Trial; harmless: number }> {
  const random = new Random(seed);
  const pick = <T>(from: readonly T[]): T => {
    const one = from[random.bits() % from.length];
    if (one === undefined) throw new Error('there is nothing to draw from');
    return one;
  };
  for (let harmless = 0; harmless < MAX_DRAWS; harmless++) {
    const { setting, answers, places } = pick(all);
    const { task_id: id } = pick(answers.filter(({ correct }) => correct === true));
    const lie = pick(places.get(id) ?? []);
    const own = path.join(folder, `lie-${seed}-${harmless}`);
    mkdirSync(own);
    const alone = { ...setting, questions: path.join(own, 'question.jsonl') };
    writeFileSync(alone.questions, findLine(setting, id));
    const out = path.join(own, 'answers.jsonl');
    const [answer] = await runAnswers(alone, out, ['--faults', `lie=${lie}`, '--fault-seed', String(seed)]);
    if (answer?.correct !== false || answer.status !== 'answered') continue;
    const found = await runBlame(alone, out, id);
    return { trial: toTrial(setting, found, lie), harmless };
  }
  throw new Error(`seed ${seed}: ${MAX_DRAWS} lies left the answer right`);
}

/** Returns a question's line of the file, unchanged. */
function findLine({ questions }: Setting, id: string): string {
  const known = readQuestions(questions).questions.findIndex(({ taskId }) => taskId === id);
  const line = readFileSync(questions, 'utf8').split('\n')[known];
  if (line === undefined) throw new Error(`${questions}: no question ${id}`);
  return `${line}\n`;
}

function toTrial(setting: Setting, found: BlameFile, lie: string | null): Trial {
  const first = found.messages.find(({ place }) => place === found.blamed[0]);
  const named = first === undefined ? null : `${first.from}@${first.type}`;
  return {
    setting: setting.name,
    question: found.task_id.slice(0, 8),
    lie,
    isRight: found.correct,
    messages: found.messages.length,
    named,
    difference: first?.again.difference ?? null,
    isAsItShould: named === lie,
  };
}
