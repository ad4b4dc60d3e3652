import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readRecording } from '@gaia-mesh/core/recording/read-archive.ts';
import { parseJsonLine } from '@gaia-mesh/core/system/json-line.ts';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { Random } from '@gaia-mesh/core/system/random.ts';
import { type BlameFile, blameSchema } from '@gaia-mesh/evaluation/blame/blame-file.ts';
import { readQuestions } from '@gaia-mesh/evaluation/questions/read-questions.ts';
import { printError } from '@gaia-mesh/evaluation/terminal/print.ts';
import * as z from 'zod';
import { runCommand } from '../measure/bench-runs.ts';
import type { Temper } from './witness.ts';

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
export interface Trial {
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

const runGaia = (args: readonly string[]) => runCommand('gaia', args, { named: `gaia ${args.join(' ')}` });

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
  await runGaia([
    ...['--team', team, '--questions', questions, '--files', files, '--out', out, '--no-cache'],
    ...['--port-base', 'auto', ...engine, ...more],
  ]);
  return readFileSync(out, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => parseJsonLine(line, answerSchema, out));
}

async function runBlame(setting: Setting, out: string, id: string): Promise<BlameFile> {
  const stdout = await runGaia([
    'blame',
    id,
    '--out',
    out,
    '--replace',
    'truth',
    '--json',
    '--port-base',
    'auto',
    ...setting.engine,
  ]);
  return blameSchema.parse(JSON.parse(stdout));
}

const resolveArchive = ({ team }: Setting, out: string) =>
  path.join(`${out.slice(0, -path.extname(out).length)}.runs`, team, 'run_artifacts.tar.gz');

/** A setting whose questions were answered honestly. */
export interface Known {
  readonly setting: Setting;
  readonly answers: readonly Answer[];
  readonly out: string;
  /** The messages of each question as `agent@type`. */
  readonly places: ReadonlyMap<string, readonly string[]>;
}

/** Maximum draws of a lie; lies that leave the answer right are drawn again. */
const MAX_DRAWS = 40;

/** Creates the settings of the trials: the embedded engine on shipped documents, and a model that slips. */
export function createSettings(folder: string, modelUrl: string): Setting[] {
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
export async function answerHonestly(setting: Setting, folder: string): Promise<Known> {
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

/**
 * Runs a trial with a lie at a random place, among those that make the answer wrong; `temper` then rules the live
 * model.
 */
export async function runLieTrial(
  all: readonly Known[],
  folder: string,
  seed: number,
  live: { readonly temper: Temper; readonly slips: number },
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
    live.temper.slips = 0;
    const [answer] = await runAnswers(alone, out, ['--faults', `lie=${lie}`, '--fault-seed', String(seed)]);
    if (answer?.correct !== false || answer.status !== 'answered') continue;
    live.temper.slips = live.slips;
    const found = await runBlame(alone, out, id);
    return { trial: toTrial(setting, found, lie), harmless };
  }
  throw new Error(`seed ${seed}: ${MAX_DRAWS} lies left the answer right`);
}

/** Blames the messages of an answer that was given honestly, right or wrong. */
export async function runHonestTrial(
  { setting, out }: Known,
  id: string,
  live: { readonly temper: Temper; readonly slips: number },
): Promise<Trial> {
  live.temper.slips = live.slips;
  return toTrial(setting, await runBlame(setting, out, id), null);
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
