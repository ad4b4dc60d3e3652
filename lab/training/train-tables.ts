// Trains the parser of questions about tables on WikiTableQuestions; same data and seed, same bytes.
// Usage: node lab/training/train-tables.ts --data DIR [--out FILE] [--split 1|2|3] [--calibrated-by FILE]
//
// The data have the answers, but not the programs that give them: training raises the likelihood of all programs that
// give the true answer (Pasupat and Liang 2015), by AdaGrad. With --split, the development part of an official split is
// left out and measured, and the chances of answers are fitted on it. --calibrated-by takes those chances from such a
// model.
import { writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { Random } from '@gaia-mesh/core/system/random.ts';
import { isWtqMatch, parseWtqValues } from '@gaia-mesh/evaluation/scorers/wtq.ts';
import { parseTableQuestion } from '@gaia-mesh/tools/tables/anchors.ts';
import { buildProgramSpace, computeProbabilities } from '@gaia-mesh/tools/tables/answer-table.ts';
import { FEATURE_BITS } from '@gaia-mesh/tools/tables/features.ts';
import { packTableModel, readTableModel } from '@gaia-mesh/tools/tables/table-model.ts';
import { fitCalibration, measureHeldOut, rankWithOthers } from './held-out.ts';
import { loadWtqData, type WtqQuestion } from './wtq-data.ts';

/** Share of questions above which a word is too frequent to identify a cell. */
const COMMON_SHARE = 0.02;
/**
 * Factor that corrects the trained model's overconfidence: of 0.6 to 1 the one with the least calibration error on
 * split 1.
 */
const CALIBRATION = 0.9;
/** Smallest weight kept; smaller ones are noise. */
const SMALLEST = 1e-6;
const EPOCHS = 4;
const RATE = 0.03;
const SEED = 1;
const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    out: { type: 'string' },
    split: { type: 'string' },
    'calibrated-by': { type: 'string' },
  },
});
if (values.data === undefined) throw new Error('--data: the folder with train.jsonl.gz and tables.jsonl.gz');

const data = loadWtqData(values.data);
const split = Number(values.split ?? 0);
const held = data.questions.filter(({ dev_of_split: of }) => of.includes(split));
const common = findCommonStems();
const weights = train(data.questions.filter(({ dev_of_split: of }) => !of.includes(split)));
const model = { weights, common, calibration: trainCalibration() };
if (held.length > 0) console.log(JSON.stringify({ split, ...measureHeldOut(model, held, data.table) }));
const shipped = fileURLToPath(new URL('../../tools/tables/weights/tables.bin', import.meta.url));
const out = values.out ?? (held.length === 0 ? shipped : undefined);
if (out !== undefined) writeFileSync(out, packTableModel(model));

/** An example without its programs, which take most of the memory. */
interface Example {
  readonly space: Omit<ReturnType<typeof buildProgramSpace>, 'programs'>;
  /** 1 for each program that gives the true answer. */
  readonly isRight: Uint8Array;
}

function findCommonStems(): Set<string> {
  const times = new Map<string, number>();
  for (const { question } of data.questions)
    for (const stem of new Set(parseTableQuestion(question).stems))
      times.set(stem, (times.get(stem) ?? 0) + 1);
  return new Set(
    [...times].filter(([, count]) => count > COMMON_SHARE * data.questions.length).map(([stem]) => stem),
  );
}

/**
 * Fits the calibration on questions that the weights were not trained on; without any, takes another model's, or keeps
 * the model's probabilities.
 */
function trainCalibration(): readonly number[] {
  if (values['calibrated-by'] !== undefined)
    return readTableModel(pathToFileURL(values['calibrated-by'])).calibration;
  const none = [0, 1, 0, 0, 0, 0, 0];
  return held.length === 0
    ? none
    : fitCalibration(rankWithOthers({ weights, common, calibration: none }, held, data.table));
}

function toExample({ question, table, answers }: WtqQuestion): Example {
  const { programs, features, factors, starts } = buildProgramSpace(question, data.table(table), common);
  const target = parseWtqValues(answers);
  const known = new Map<string, boolean>();
  const isRight = programs.map(({ answer }) => {
    const key = answer.join('\u0001');
    const right = known.get(key) ?? isWtqMatch(target, parseWtqValues(answer));
    known.set(key, right);
    return right;
  });
  return { space: { features, factors, starts }, isRight: Uint8Array.from(isRight, Number) };
}

function train(questions: readonly WtqQuestion[]): Float32Array {
  const examples = questions.map(toExample).filter(({ isRight }) => isRight.includes(1));
  console.error(`${examples.length} of ${questions.length} questions have a program that gives the answer`);
  const learned = new Float32Array(1 << FEATURE_BITS);
  const squares = new Float32Array(1 << FEATURE_BITS);
  const random = new Random(SEED);
  for (let epoch = 1; epoch <= EPOCHS; epoch++) {
    let likelihood = 0;
    for (const example of random.shuffle(examples)) likelihood += stepAdaGrad(example, learned, squares);
    console.error(`epoch ${epoch}: log-likelihood ${(likelihood / examples.length).toFixed(3)}`);
  }
  return learned.map((weight) => weight * CALIBRATION);
}

/** Performs one step of AdaGrad (Duchi, Hazan and Singer 2011) and returns the log-likelihood before it. */
function stepAdaGrad({ space, isRight }: Example, learned: Float32Array, squares: Float32Array): number {
  const chances = computeProbabilities(space, learned);
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
      (learned[feature] ?? 0) + (RATE * slope) / (Math.sqrt(squares[feature] ?? 0) + SMALLEST);
  }
  return Math.log(right);
}
