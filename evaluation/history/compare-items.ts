import { MeshError } from '../../core/contracts/errors.ts';
import { type FinishedBatch, openBatch } from '../batch/finished-batch.ts';
import { comparedAdapters } from '../compare/compared-adapters.ts';
import { comparisonFileText, parseComparison } from '../compare/comparison-file.ts';
import type { Compared } from '../compare/conditions/compared.ts';
import { changesSince, differencesOf } from '../compare/conditions/saved-baseline.ts';
import { toComparedStacks } from '../compare/stacks/figures/compared-stacks.ts';
import { parseStacks } from '../compare/stacks/figures/stacks-file.ts';
import { intervalText, verdictText } from '../compare/verdict-text.ts';
import { readArchivedRun } from '../report/run/archived-run.ts';
import { versusView } from '../report/run/versus-view.ts';
import { bytesText } from '../report/wording.ts';
import { type JudgedAnswers, judgeAnswers, type PairedCounts } from '../statistics/answers/paired-answers.ts';
import { count, decimals, oneLine, percent, signedPercent } from '../terminal/table.ts';
import { type TableView, tableView } from '../terminal/table-view.ts';
import type { FolderItem, ItemsCompared } from './folder-view.ts';

/** The first is what the second is set against. @throws MeshError where a file is not what it was taken for */
async function compareItems(base: FolderItem, other: FolderItem): Promise<ItemsCompared> {
  const title = `${other.place} against ${base.place}`;
  const nothing = { title, table: null, versus: null, notes: [] };
  if (base.id === other.id) return { ...nothing, refused: ['This is the same file twice.'] };
  if (base.kind !== other.kind) {
    const refused = `A ${base.kind} and a ${other.kind} measure different things: choose two of one kind.`;
    return { ...nothing, refused: [refused] };
  }
  switch (base.kind) {
    case 'run':
      return { ...nothing, ...(await compareRuns(base.file, other.file)) };
    case 'batch':
      return { ...nothing, ...compareBatches(base.file, other.file) };
    case 'comparison':
    case 'stacks':
      return { ...nothing, ...compareComparisons(comparedIn(base), comparedIn(other)) };
  }
}

type Parts = Pick<ItemsCompared, 'table' | 'refused'> & Partial<ItemsCompared>;

const ANSWERS_NOTE =
  'Right answers on the same questions: Newcombe’s interval of the difference, McNemar’s exact test after Holm’s correction.';

/** Runs of the same questions: their answers pair by pair, and what is exact as ratios. */
async function compareRuns(base: string, other: string): Promise<Parts> {
  const runs = [await readArchivedRun(base), await readArchivedRun(other)] as const;
  const [questions, others] = [questionsOf(runs[0]), questionsOf(runs[1])];
  const shared = [...questions].filter(([id, text]) => others.get(id) === text).map(([id]) => id);
  if (shared.length === 0) {
    const why =
      questions.size === 0 || others.size === 0
        ? 'of one of them the questions are not recorded'
        : 'they share no question';
    return { table: null, refused: [`These runs cannot be compared: ${why}.`] };
  }
  const isSame = shared.length === questions.size && shared.length === others.size;
  const right = runs.map(
    ({ results }) => new Map(results.map(({ task_id, normalized_em }) => [task_id, normalized_em])),
  );
  const counts = countsOf(
    shared,
    (id) => right[0]?.get(id) ?? null,
    (id) => right[1]?.get(id) ?? null,
  );
  const [judged] = counts.asked === 0 ? [] : judgeAnswers([counts]);
  return {
    table: judged === undefined ? null : answersTable([['right answers', judged]]),
    versus: isSame ? versusView(runs) : null,
    refused: isSame
      ? []
      : [
          `Bytes, tokens and times are not set side by side: only ${count(shared.length)} questions are in both, of ` +
            `${count(questions.size)} and ${count(others.size)}.`,
        ],
    notes:
      judged === undefined
        ? ['No true answers are known of both, so right answers are not compared.']
        : [ANSWERS_NOTE],
  };
}

/** What a run was asked, by task. */
function questionsOf({ recording }: Awaited<ReturnType<typeof readArchivedRun>>): Map<string, string> {
  const openings = recording?.packets.filter(({ cause }) => cause === null) ?? [];
  return new Map(openings.map(({ packet }) => [packet.task_id, JSON.stringify(packet.payload)]));
}

type Right = number | boolean | null | undefined;

function countsOf(ids: readonly string[], baseOf: (id: string) => Right, otherOf: (id: string) => Right) {
  const counts = { both: 0, onlyBaseline: 0, onlyOther: 0, neither: 0, asked: 0 };
  for (const id of ids) {
    const [base, other] = [baseOf(id), otherOf(id)];
    if (base === undefined || base === null || other === undefined || other === null) continue;
    counts.asked += 1;
    const [isBase, isOther] = [Number(base) === 1, Number(other) === 1];
    counts[isBase ? (isOther ? 'both' : 'onlyBaseline') : isOther ? 'onlyOther' : 'neither'] += 1;
  }
  return counts satisfies PairedCounts;
}

function answersTable(rows: readonly (readonly [string, JudgedAnswers])[]): TableView {
  return tableView(
    ['', 'questions', 'difference', '95 % interval', 'verdict', 'would have shown'],
    rows.map(([name, { questions, difference, low, high, verdict, detectable }]) => [
      oneLine(name, 80),
      count(questions),
      signedPercent(difference),
      `${signedPercent(low)} to ${signedPercent(high)}`,
      verdict,
      Number.isFinite(detectable) ? percent(detectable) : '–',
    ]),
  );
}

/** Teams of two batches on the questions that both were asked: those of one name, or the one that each has. */
function compareBatches(base: string, other: string): Parts {
  const first = openBatch(base);
  try {
    const second = openBatch(other);
    try {
      return teamsSideBySide(first, second);
    } finally {
      second.close();
    }
  } finally {
    first.close();
  }
}

function teamsSideBySide(first: FinishedBatch, second: FinishedBatch): Parts {
  const known = new Map(first.questions.map((question) => [question.taskId, question]));
  const shared = second.questions.filter((question) => {
    const same = known.get(question.taskId);
    return same?.question === question.question && same.truths.join('\n') === question.truths.join('\n');
  });
  const ids = shared.map(({ taskId }) => taskId);
  if (ids.length === 0)
    return {
      table: null,
      refused: ['These batches cannot be compared: they share no question with the same true answer.'],
    };
  const names = ({ head }: FinishedBatch) => head.teams.map(({ name }) => name);
  const both = names(first).filter((name) => names(second).includes(name));
  const [one, another] = [names(first), names(second)];
  const [only, onlyOther] = [one[0], another[0]];
  const isPair = both.length === 0 && one.length === 1 && another.length === 1;
  const pairs = isPair ? [[only, onlyOther] as const] : both.map((name) => [name, name] as const);
  if (pairs.length === 0) {
    const refused = `These batches cannot be compared: they have no team in common (${one.join(', ')}; ${another.join(', ')}).`;
    return { table: null, refused: [oneLine(refused, 400)] };
  }
  const counted = pairs.map(([team = '', otherTeam = '']) => ({
    name: team === otherTeam ? team : `${otherTeam} against ${team}`,
    counts: countsOf(
      ids,
      (id) => first.read({ task_id: id, team, cycle: 1 })?.correct,
      (id) => second.read({ task_id: id, team: otherTeam, cycle: 1 })?.correct,
    ),
  }));
  const judged = judgeAnswers(counted.map(({ counts }) => counts));
  const rows = counted.flatMap(({ name, counts }, index): [string, JudgedAnswers][] => {
    const one = judged[index];
    return one === undefined || counts.asked === 0 ? [] : [[name, one]];
  });
  const isSame = shared.length === first.questions.length && shared.length === second.questions.length;
  return {
    table: rows.length === 0 ? null : answersTable(rows),
    refused: rows.length === 0 ? ['No shared question was answered by both and has a true answer.'] : [],
    notes: [ANSWERS_NOTE, ...(isSame ? [] : [`On the ${count(shared.length)} questions that are in both.`])],
  };
}

const TIMES_NOTE =
  'Times were not measured side by side: what changed about the machine between the two is in the ratio. Fresh processes of each are what is compared.';

function comparedIn({ kind, file }: FolderItem): Compared {
  const text = comparisonFileText(file);
  return kind === 'stacks'
    ? toComparedStacks(parseStacks(text, file))
    : comparedAdapters(parseComparison(text, file));
}

/** Two comparisons of adapters, or two of stacks. */
function compareComparisons(before: Compared, now: Compared): Parts {
  const differences = differencesOf(before, now);
  if (differences.length > 0) {
    const refused = `These comparisons cannot be compared; different are ${differences.join('; ')}.`;
    return { table: null, refused: [refused] };
  }
  const rows = changesSince(before, now).map(({ name, bytes, time }) => [
    oneLine(name, 60),
    bytes.before === bytes.now
      ? `${bytesText(bytes.now)}, the same`
      : `${bytesText(bytes.before)} → ${bytesText(bytes.now)}`,
    ...(time === null
      ? ['–', '–', 'not measured']
      : [decimals(time.ratio, 2), intervalText(time), verdictText(time)]),
  ]);
  if (rows.length === 0) return { table: null, refused: ['These comparisons have nothing in common.'] };
  const head = ['', 'bytes', 'time, times', '95 % interval', 'verdict'];
  return { table: tableView(head, rows), refused: [], notes: [TIMES_NOTE] };
}

/** What a comparison says that cannot be made, or why. */
export async function comparedOrWhy(base: FolderItem, other: FolderItem): Promise<ItemsCompared> {
  try {
    return await compareItems(base, other);
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    const title = `${other.place} against ${base.place}`;
    return { title, table: null, versus: null, notes: [], refused: [error.message] };
  }
}
