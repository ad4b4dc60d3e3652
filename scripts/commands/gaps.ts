import { existsSync } from 'node:fs';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { formatDifference } from '@gaia-mesh/evaluation/blame/blame-results.ts';
import { formatVerdict } from '@gaia-mesh/evaluation/compare/comparison-text.ts';
import { resolveGaiaPaths } from '@gaia-mesh/evaluation/plan/batch-places.ts';
import {
  defineTable,
  flag,
  option,
  storeAddress,
  text,
  wholeNumber,
} from '@gaia-mesh/evaluation/plan/option-table.ts';
import { judgeAnswers } from '@gaia-mesh/evaluation/statistics/answers/paired-answers.ts';
import { openStore, resolveStoreFile } from '@gaia-mesh/evaluation/store/open-store.ts';
import type { Store } from '@gaia-mesh/evaluation/store/store.ts';
import {
  createStyles,
  print,
  printError,
  printJson,
  type Styles,
} from '@gaia-mesh/evaluation/terminal/print.ts';
import { toOneLine } from '@gaia-mesh/evaluation/terminal/table.ts';
import {
  formatHint,
  isAwaitingReview,
  isInforming,
  type RecordedAttempt,
  type ReviewVerdict,
  type StoredGapRecord,
} from '@gaia-mesh/tools/roles/memory/attempt.ts';
import type { Command } from 'commander';
import * as z from 'zod';
import { loadKeys } from '../command-line/load-keys.ts';
import { defineOptions } from '../command-line/options.ts';

const gapsTable = defineTable({
  options: z.object({
    store: option(
      '<file|url>',
      'read this database (default: the one beside the answers)',
      storeAddress.optional(),
    ),
    out: option(
      '<file>',
      'find the database beside these answers (default: runs/gaia/answers.jsonl)',
      text.optional(),
    ),
    approve: option('<id...>', 'let these records inform later plans', z.array(wholeNumber).default([])),
    reject: option('<id...>', 'keep these records out of later plans', z.array(wholeNumber).default([])),
    json: flag('print records as JSON'),
  }),
  needs: [{ options: ['out'], excludes: ['store'], why: 'both name the database' }],
});

type GapsOptions = z.output<typeof gapsTable.options>;

/** Maximum length of a record's text on the terminal; the store keeps a little more. */
const COLUMNS = 2_000;

/** Defines `gaia gaps`, which shows the overseer's proposals for a person to decide on (OV-19). */
export function gapsCommand(command: Command): void {
  defineOptions(command, gapsTable, run);
}

/** Shows what the overseer learned, and records a person's decisions (OV-19). */
async function run(options: GapsOptions): Promise<void> {
  loadKeys();
  const verdicts = parseVerdicts(options);
  const { store: place } = resolveGaiaPaths(options);
  const file = resolveStoreFile(place);
  // Opening a missing store would create it.
  if (file !== undefined && !existsSync(file))
    throw new MeshError(
      'usage',
      `there is no store at ${file}: name one with --store, or the answers beside it with --out`,
    );
  const store = await openStore(place, { warn: (text) => printError(text) });
  try {
    const all = await readAllRecords(store);
    const unknown = [...verdicts.keys()].filter((id) => !all.some((record) => record.id === id));
    // If one number is unknown, no record is decided: the user has to look at the list again.
    if (unknown.length > 0)
      throw new MeshError('usage', `${store.location}: there is no gap record ${unknown.join(', ')}`);
    const reviewed: StoredGapRecord[] = [];
    for (const [id, verdict] of verdicts) reviewed.push(await store.reviewGapRecord(id, verdict));
    const shown = verdicts.size > 0 ? reviewed : all;
    const effects = computeGapEffects(all, await readJudgedAttempts(store));
    const withEffect = shown.map((record) => ({
      ...record,
      informs_plans: isInforming(record),
      effect: effects.get(record.id) ?? null,
    }));
    if (options.json) printJson({ schema_version: 1, records: withEffect });
    else if (shown.length === 0) print('there are no gap records');
    else for (const line of formatGapList(withEffect, createStyles(process.stdout))) print(line);
  } finally {
    await store.close();
  }
}

/** A record with its effect on other questions; the effect is null if none was asked both without and with the record. */
type ShownRecord = StoredGapRecord & { readonly effect: GapEffect | null };

function parseVerdicts({ approve, reject }: GapsOptions): Map<number, ReviewVerdict> {
  const both = approve.find((id) => reject.includes(id));
  if (both !== undefined)
    throw new MeshError('usage', `gap record ${both} cannot be both approved and rejected`);
  return new Map([
    ...approve.map((id) => [id, 'approved'] as const),
    ...reject.map((id) => [id, 'rejected'] as const),
  ]);
}

async function readAllRecords(store: Store): Promise<StoredGapRecord[]> {
  const records: StoredGapRecord[] = [];
  for (;;) {
    const page = await store.gapRecordPage(records.at(-1)?.id ?? 0);
    if (page.length === 0) return records;
    records.push(...page);
  }
}

/** Reads the parts of attempts that show the effects of records; the large parts are not kept. */
async function readJudgedAttempts(store: Store) {
  const judged: Parameters<typeof computeGapEffects>[1][number][] = [];
  for (;;) {
    const page = await store.attempts(judged.at(-1)?.id ?? 0);
    if (page.length === 0) return judged;
    for (const { id, attempt_id, team, task_id, question, correct, pm_brief } of page)
      judged.push({ id, attempt_id, team, task_id, question, correct, pm_brief });
  }
}

/**
 * Formats gap records for a person who decides on them. Control characters are escaped, because models wrote the
 * records.
 */
function formatGapList(records: readonly ShownRecord[], { bold }: Styles): string[] {
  return records.flatMap((record, index) => [...(index === 0 ? [] : ['']), ...formatBlock(record, bold)]);
}

function formatBlock(record: ShownRecord, bold: (text: string) => string): string[] {
  const {
    id,
    kind,
    question_type,
    failure_type,
    point,
    tool,
    pattern,
    cause,
    advice,
    attempt_id,
    created_at,
  } = record;
  const place = point === 'unknown' ? '' : ` (${point})`;
  const at = tool === '' ? place : `${place} at ${toOneLine(tool, COLUMNS)}`;
  const from = attempt_id === null ? 'a person' : `attempt ${attempt_id}`;
  return [
    `${bold(`${id}  ${kind}`)}  ${describeState(record)}`,
    `    of ${toOneLine(question_type, COLUMNS)} questions, after a ${failure_type}${at}; by ${toOneLine(from, COLUMNS)}, ${created_at}`,
    `    pattern  ${toOneLine(pattern, COLUMNS)}`,
    `    cause    ${toOneLine(cause, COLUMNS)}`,
    `    advice   ${toOneLine(advice, COLUMNS)}`,
    `    effect   ${formatEffect(record.effect)}`,
  ];
}

function formatEffect(effect: GapEffect | null): string {
  if (effect === null) return 'not known: no other question was asked without it and then with it';
  const { questions, right_without, right_with, verdict } = effect;
  return `${verdict}: of ${questions} other ${questions === 1 ? 'question' : 'questions'} ${right_without} were right without it and ${right_with} with it (difference ${formatDifference(effect)})`;
}

/** Describes the state in words, since a hint that is only proposed is already in use. */
function describeState(record: StoredGapRecord): string {
  if (record.status === 'rejected') return 'rejected';
  if (isAwaitingReview(record)) return 'waits for you';
  return record.status === 'approved' ? 'approved' : 'in use';
}

/** The effect of a gap record on questions other than the one that it was made from. */
interface GapEffect
  extends Pick<ReturnType<typeof judgeAnswers>[number], 'questions' | 'difference' | 'low' | 'high'> {
  readonly verdict: string;
  /** Questions that were right in the last attempt without the record, and in the first one with it. */
  readonly right_without: number;
  readonly right_with: number;
}

/** The parts of an attempt that show the effect of a record. */
type Judged = Pick<
  RecordedAttempt,
  'id' | 'attempt_id' | 'team' | 'task_id' | 'question' | 'correct' | 'pm_brief'
>;

/**
 * Compares each question's last attempt before the record was in a brief with the first one whose brief has it. The record's own
 * question is left out: its attempt was chosen because it was wrong, so that another one would be right more often even without a
 * record. All records are one family of comparisons.
 */
function computeGapEffects(
  records: readonly StoredGapRecord[],
  attempts: readonly Judged[],
): ReadonlyMap<number, GapEffect> {
  const scored = attempts.filter(({ correct }) => correct !== null).toSorted((a, b) => a.id - b.id);
  const byQuestion = Map.groupBy(scored, ({ team, task_id, question }) =>
    JSON.stringify([team, task_id, question]),
  );
  const tried = records.flatMap((record) => {
    const hint = formatHint(record);
    const questions = [...byQuestion.values()].flatMap((all) => {
      const first = all.findIndex(({ pm_brief }) => pm_brief.includes(hint));
      const isOwn = all.some(({ attempt_id }) => attempt_id === record.attempt_id);
      if (first < 1 || isOwn) return [];
      return [{ baseline: Number(all[first - 1]?.correct), other: Number(all[first]?.correct) }];
    });
    return questions.length === 0 ? [] : [{ id: record.id, questions }];
  });
  const judged = judgeAnswers(tried.map(({ questions }) => ({ attempts: 1, questions })));
  return new Map(
    tried.flatMap(({ id, questions }, index): [number, GapEffect][] => {
      const found = judged[index];
      if (found === undefined) return [];
      const { difference, low, high } = found;
      const verdict = formatVerdict(found);
      const right_without = questions.filter(({ baseline }) => baseline === 1).length;
      const right_with = questions.filter(({ other }) => other === 1).length;
      return [
        [id, { questions: questions.length, difference, low, high, verdict, right_without, right_with }],
      ];
    }),
  );
}
