import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { defineOptions } from '@gaia-mesh/cli/command-line/options.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { isJsonObject, type JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import { argument, defineTable, flag, option, text } from '@gaia-mesh/evaluation/plan/option-table.ts';
import { computeWilson } from '@gaia-mesh/evaluation/statistics/inference/confidence.ts';
import { type Column, formatColumns } from '@gaia-mesh/evaluation/terminal/columns.ts';
import { print, printError, printJson, printText } from '@gaia-mesh/evaluation/terminal/print.ts';
import { formatPercent, toOneLine } from '@gaia-mesh/evaluation/terminal/table.ts';
import { readLabelledFailure } from '@gaia-mesh/evaluation/traffic/import/who-and-when.ts';
import { findText, toCount } from '@gaia-mesh/evaluation/traffic/loose-values.ts';
import { ImportNotes } from '@gaia-mesh/evaluation/traffic/message.ts';
import { readSource } from '@gaia-mesh/evaluation/traffic/read-source.ts';
import type { Command } from 'commander';
import * as z from 'zod';

const table = defineTable({
  options: z.object({
    attributions: argument('<file>', 'score the attributions in this file', z.string()),
    labels: option('<folder|file>', 'compare with the labels of these failures', text),
    json: flag('print the result as one JSON value'),
  }),
});

/**
 * Scores a file of attributions against labelled failures of the Who&When set: a line for each failure, with its file or question,
 * and the agent and the step (from 0) that are said to have made the mistake.
 */
export function defineAttribution(command: Command): void {
  defineOptions(command, table, run);
}

interface Label {
  readonly file: string;
  readonly failure: NonNullable<ReturnType<typeof readLabelledFailure>>;
}

/** A share of failures: of how many it is one, and how many are right. */
interface Score {
  readonly set: string;
  readonly what: 'agent' | 'step';
  readonly right: number;
  readonly failures: number;
  /** The share that a draw of an agent, or of a step, would have. */
  readonly chance: number;
}

const columns: readonly Column<Score>[] = [
  { key: 'set', header: 'failures of', value: ({ set }) => toOneLine(set, 40) },
  { key: 'what', header: 'named', value: ({ what }) => what },
  { key: 'right', header: 'right', value: ({ right, failures }) => `${right} of ${failures}` },
  {
    key: 'accuracy',
    header: 'accuracy (95 % interval)',
    value({ right, failures }) {
      const { low, high } = computeWilson(right, failures);
      return `${formatPercent(right / failures)} (${formatPercent(low)}–${formatPercent(high)})`;
    },
  },
  { key: 'chance', header: 'by chance', value: ({ chance }) => formatPercent(chance) },
];

function run({ attributions, labels, json }: z.output<typeof table.options>): void {
  const known = readLabels(resolveUserPath(labels));
  const named = readAttributions(resolveUserPath(attributions));
  const found = known.map((label) => ({ label, said: findAttribution(label, named) }));
  const missing = found.filter(({ said }) => said === undefined).length;
  const sets = [...Map.groupBy(found, ({ label }) => path.basename(path.dirname(label.file)))];
  const scores = [...sets, ...(sets.length > 1 ? [['all', found] as const] : [])].flatMap(([set, all]) => [
    score(set, 'agent', all),
    score(set, 'step', all),
  ]);
  if (missing > 0)
    printError(`${missing} of ${known.length} failures have no attribution, and count as wrong`);
  if (json)
    printJson({
      missing,
      scores: scores.map((one) => ({ ...one, ...computeWilson(one.right, one.failures) })),
    });
  else printText(`${formatColumns(columns, scores)}\n`);
  if (!json) print('Steps are counted from 0, as the set counts them.');
}

type Found = readonly { readonly label: Label; readonly said: JsonObject | undefined }[];

function score(set: string, what: Score['what'], all: Found): Score {
  const isRight = ({ label: { failure }, said }: Found[number]) => {
    if (said === undefined) return false;
    if (what === 'step') return toCount(said.step ?? said.mistake_step) === failure.mistakeStep;
    return normalizeName(findText(said, ['agent', 'mistake_agent'])) === normalizeName(failure.mistakeAgent);
  };
  const chances = all.map(({ label: { failure } }) =>
    what === 'step' ? failure.steps.length : new Set(failure.steps.map(({ agent }) => agent)).size,
  );
  return {
    set,
    what,
    right: all.filter(isRight).length,
    failures: all.length,
    chance: chances.reduce((sum, count) => sum + 1 / Math.max(1, count), 0) / all.length,
  };
}

const normalizeName = (name: string | undefined) => name?.toLowerCase().replaceAll(/[\s_-]+/g, '');

/** Maximum files of a set; the public one has 184. */
const MAX_FILES = 10_000;

/** Reads all labelled failures of a file, or of the files of JSON below a folder. */
function readLabels(place: string): Label[] {
  const files = statSync(place, { throwIfNoEntry: false })?.isDirectory()
    ? readdirSync(place, { recursive: true, encoding: 'utf8' })
        .filter((file) => /\.jsonl?$/.test(file))
        .sort()
        .slice(0, MAX_FILES)
        .map((file) => path.join(place, file))
    : [place];
  const labels = files.flatMap((file) =>
    readSource(file, new ImportNotes()).flatMap(({ value, where }): Label[] => {
      const failure = readLabelledFailure(value, where);
      return failure === undefined ? [] : [{ file, failure }];
    }),
  );
  if (labels.length === 0)
    throw new MeshError(
      'config',
      `--labels: expected failures with mistake_agent and mistake_step, found none in ${place}`,
    );
  return labels;
}

function readAttributions(file: string): ReadonlyMap<string, JsonObject> {
  const values = readSource(file, new ImportNotes()).map(({ value }) => value);
  const named = values.filter(isJsonObject).flatMap((value): [string, JsonObject][] => {
    const name = findText(value, ['file', 'question_ID', 'task_id', 'id']);
    return name === undefined ? [] : [[name, value]];
  });
  if (named.length === 0)
    throw new MeshError(
      'config',
      `${file}: expected lines such as {"file":"1.json","agent":"Verifier","step":3}, with file, question_ID or task_id`,
    );
  return new Map(named);
}

/** Finds the attribution of a failure: by its folder and file, its file, or its question. */
function findAttribution(
  { file, failure }: Label,
  named: ReadonlyMap<string, JsonObject>,
): JsonObject | undefined {
  const names = [
    path.join(path.basename(path.dirname(file)), path.basename(file)),
    path.basename(file),
    failure.id,
  ];
  return names.map((name) => named.get(name)).find((one) => one !== undefined);
}
