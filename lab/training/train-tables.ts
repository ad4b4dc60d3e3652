// Trains the parser of questions about tables on WikiTableQuestions; same data and seed, same bytes.
// Usage: node lab/training/train-tables.ts --data DIR [--out FILE] [--split 1|2|3] [--epochs N] [--rate R]
//
// The data say what the answers are, not which programs give them: the likelihood of all programs that give the true answer is raised
// (Pasupat and Liang 2015), by AdaGrad. With --split, the development part of an official split is left out and measured.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { z } from 'zod';
import { Random } from '../../core/system/random.ts';
import { wtqMatches, wtqValues } from '../../evaluation/scorers/wtq.ts';
import { questionOf } from '../../tools/tables/anchors.ts';
import { FEATURE_BITS } from '../../tools/tables/features.ts';
import {
  answersBy,
  type FactoredPrograms,
  type ProgramSpace,
  probabilities,
  spaceOf,
} from '../../tools/tables/ranked-programs.ts';
import { type Table, tableOf } from '../../tools/tables/table.ts';
import { packTableModel } from '../../tools/tables/table-model.ts';

/** A word that more questions have says nothing of a cell. */
const COMMON_SHARE = 0.02;
/** What was learned is surer of itself than it may be: of 0.6 to 1 the factor with the least calibration error on split 1. */
const CALIBRATION = 0.9;
/** Smaller steps than these are noise. */
const SMALLEST = 1e-6;
const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    out: { type: 'string' },
    split: { type: 'string' },
    epochs: { type: 'string', default: '4' },
    rate: { type: 'string', default: '0.03' },
    seed: { type: 'string', default: '1' },
  },
});
if (values.data === undefined) throw new Error('--data: the folder with train.jsonl.gz and tables.jsonl.gz');

const questionSchema = z.object({
  id: z.string(),
  question: z.string(),
  table: z.string(),
  answers: z.array(z.string()),
  dev_of_split: z.array(z.number()),
});
const tableSchema = z.object({ id: z.string(), rows: z.array(z.array(z.string())) });

const all = linesOf('train.jsonl.gz', questionSchema);
const rows = new Map(linesOf('tables.jsonl.gz', tableSchema).map(({ id, rows: own }) => [id, own]));
const tables = new Map<string, Table>();
const common = commonStems();
const split = Number(values.split ?? 0);
const weights = train(all.filter(({ dev_of_split: of }) => !of.includes(split)));
const held = all.filter(({ dev_of_split: of }) => of.includes(split));
if (held.length > 0) measure(held);
const shipped = fileURLToPath(new URL('../../tools/tables/weights/tables.bin', import.meta.url));
const out = values.out ?? (held.length === 0 ? shipped : undefined);
if (out !== undefined) writeFileSync(out, packTableModel({ weights, common }));

type Question = z.infer<typeof questionSchema>;
/** Without the programs themselves, which take most of the memory. */
interface Example {
  readonly space: FactoredPrograms;
  /** Which programs give the true answer: 1. */
  readonly isRight: Uint8Array;
}

function linesOf<T>(name: string, schema: z.ZodType<T>): T[] {
  const text = gunzipSync(readFileSync(path.join(values.data ?? '', name))).toString('utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => schema.parse(JSON.parse(line)));
}

function commonStems(): Set<string> {
  const times = new Map<string, number>();
  for (const { question } of all)
    for (const stem of new Set(questionOf(question).stems)) times.set(stem, (times.get(stem) ?? 0) + 1);
  return new Set([...times].filter(([, count]) => count > COMMON_SHARE * all.length).map(([stem]) => stem));
}

function spaceFor({ question, table: id }: Question): ProgramSpace {
  const table = tables.get(id) ?? tableOf(rows.get(id) ?? []);
  tables.set(id, table);
  return spaceOf(question, table, common);
}

function exampleOf(question: Question): Example {
  const { programs, features, factors, starts } = spaceFor(question);
  const target = wtqValues(question.answers);
  const known = new Map<string, boolean>();
  const isRight = programs.map(({ answer }) => {
    const key = answer.join('\u0001');
    const right = known.get(key) ?? wtqMatches(target, wtqValues(answer));
    known.set(key, right);
    return right;
  });
  return { space: { features, factors, starts }, isRight: Uint8Array.from(isRight, Number) };
}

function train(questions: readonly Question[]): Float32Array {
  const examples = questions.map(exampleOf).filter(({ isRight }) => isRight.includes(1));
  console.error(`${examples.length} of ${questions.length} questions have a program that gives the answer`);
  const learned = new Float32Array(1 << FEATURE_BITS);
  const squares = new Float32Array(1 << FEATURE_BITS);
  const random = new Random(Number(values.seed));
  for (let epoch = 1; epoch <= Number(values.epochs); epoch++) {
    let likelihood = 0;
    for (const example of random.shuffle(examples)) likelihood += step(example, learned, squares);
    console.error(`epoch ${epoch}: log-likelihood ${(likelihood / examples.length).toFixed(3)}`);
  }
  return learned.map((weight) => weight * CALIBRATION);
}

/** One step of AdaGrad (Duchi, Hazan and Singer 2011); the log-likelihood before it. */
function step({ space, isRight }: Example, learned: Float32Array, squares: Float32Array): number {
  const chances = probabilities(space, learned);
  const right = chances.reduce((sum, chance, at) => sum + (isRight[at] === 1 ? chance : 0), 0);
  if (right <= 0) return 0;
  const ofFactor = new Float64Array(space.features.length);
  for (const [at, chance] of chances.entries()) {
    const more = (isRight[at] === 1 ? chance / right : 0) - chance;
    if (Math.abs(more) < SMALLEST) continue;
    for (let place = space.starts[at] ?? 0; place < (space.starts[at + 1] ?? 0); place++) {
      const factor = space.factors[place] ?? 0;
      ofFactor[factor] = (ofFactor[factor] ?? 0) + more;
    }
  }
  const gradient = new Map<number, number>();
  for (const [factor, more] of ofFactor.entries()) {
    if (Math.abs(more) < SMALLEST) continue;
    for (const feature of space.features[factor] ?? [])
      gradient.set(feature, (gradient.get(feature) ?? 0) + more);
  }
  for (const [feature, slope] of gradient) {
    squares[feature] = (squares[feature] ?? 0) + slope * slope;
    learned[feature] =
      (learned[feature] ?? 0) + (Number(values.rate) * slope) / (Math.sqrt(squares[feature] ?? 0) + SMALLEST);
  }
  return Math.log(right);
}

/** Accuracy, that of the surer half, and the expected calibration error over ten bins. */
function measure(questions: readonly Question[]): void {
  const given = questions.map((question) => {
    const space = spaceFor(question);
    const [best] = answersBy(space, probabilities(space, weights));
    const isRight = best !== undefined && wtqMatches(wtqValues(question.answers), wtqValues(best.answer));
    return { isRight, probability: best?.probability ?? 0 };
  });
  const share = (of: typeof given) => of.filter(({ isRight }) => isRight).length / Math.max(1, of.length);
  const surer = given.toSorted((a, b) => b.probability - a.probability).slice(0, given.length / 2);
  const bins = Map.groupBy(given, ({ probability }) => Math.min(9, Math.floor(probability * 10)));
  const error = [...bins.values()].reduce((sum, bin) => {
    const mean = bin.reduce((total, { probability }) => total + probability, 0) / bin.length;
    return sum + (bin.length / given.length) * Math.abs(mean - share(bin));
  }, 0);
  const percent = (value: number) => `${(100 * value).toFixed(1)} %`;
  console.log(
    `split ${split}: ${percent(share(given))} of ${given.length} right; of the surer half ${percent(share(surer))}; calibration error ${percent(error)}`,
  );
}
