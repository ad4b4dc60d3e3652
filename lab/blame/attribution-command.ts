import { appendFileSync, existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { handleInterrupt } from '@gaia-mesh/cli/command-line/interruptible.ts';
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
import { loadEngine, startEngineServer } from '@gaia-mesh/tools/engines/registry.ts';
import type { Command } from 'commander';
import * as z from 'zod';

const table = defineTable({
  options: z.object({
    attributions: argument('<file>', 'score the attributions in this file', z.string()),
    labels: option('<folder|file>', 'compare with the labels of these failures', text),
    engine: option('<name>', 'ask this engine first for what the file lacks', text.optional()),
    model: option('<name|file>', 'use this model of the engine', text.optional()),
    host: option('<url>', 'connect to the model server at this address', text.optional()),
    json: flag('print the result as one JSON value'),
  }),
  needs: [{ options: ['model', 'host'], needs: ['engine'], why: 'they belong to an engine' }],
});
type AttributionOptions = z.output<typeof table.options>;

/**
 * Scores a file of attributions against labelled failures of the Who&When set: a line for each failure, with its file or question,
 * and the agent and the step (from 0) that are said to have made the mistake. A model can be asked for them: it reads the whole
 * conversation at once, shortened to what its context holds.
 */
export function defineAttribution(command: Command): void {
  defineOptions(command, table, run);
}

interface Label {
  readonly file: string;
  readonly failure: NonNullable<ReturnType<typeof readLabelledFailure>>;
}

const PROMPT = `## system

A team of agents answered a question wrongly. Name the agent that made the decisive mistake, and the number of the step in which
it did. Reply in JSON: {"agent": "name of an agent", "step": 0}

## user

{{text}}
`;
/** Characters of a conversation that a model reads: a small model has a context of 2,000 tokens. */
const MAX_CONVERSATION = 6_000;

/** Asks a model about each failure that the file does not name yet, and adds its replies to the file. */
async function askEngine(
  name: string,
  known: readonly Label[],
  file: string,
  { model, host }: AttributionOptions,
): Promise<void> {
  const { signal } = handleInterrupt('the questions');
  await startEngineServer(name, { model });
  const engine = await loadEngine(name, { model, host, options: { max_tokens: 128 }, prompts: () => PROMPT });
  const work = { signal, countTokens: () => undefined };
  const named = existsSync(file) ? readAttributions(file) : new Map<string, JsonObject>();
  for (const label of known.filter((one) => findAttribution(one, named) === undefined)) {
    const own = path.join(path.basename(path.dirname(label.file)), path.basename(label.file));
    // A small model would name an agent that is not there.
    const agents = [...new Set(label.failure.steps.map(({ agent }) => agent))];
    const schema = z.object({ agent: z.enum(agents), step: z.int().nonnegative() });
    const task = {
      input: {},
      embedded: () => schema.parse({ agent: agents[0], step: 0 }),
      model: {
        prompt: 'attribution',
        variables: () => ({ text: formatConversation(label) }),
        reply: schema,
        result: (reply: unknown) => schema.parse(reply),
      },
    };
    try {
      const said = await engine.perform(task, work);
      appendFileSync(file, `${JSON.stringify({ file: own, ...said })}\n`);
      printError(`${own}: ${toOneLine(said.agent, 60)}, step ${said.step}`);
    } catch (error) {
      if (!(error instanceof MeshError) || error.code === 'config' || error.code === 'interrupted')
        throw error;
      printError(`${own}: ${toOneLine(error.message, 200)}`);
    }
  }
}

/** Writes the steps with their numbers, each shortened to its part of the room. */
function formatConversation({ failure: { question, steps } }: Label): string {
  const room = Math.max(40, Math.floor(MAX_CONVERSATION / Math.max(1, steps.length)));
  const lines = steps.map(
    ({ agent, content }, step) =>
      `Step ${step}, ${agent}: ${toOneLine(typeof content === 'string' ? content : JSON.stringify(content), room)}`,
  );
  return `Question: ${toOneLine(question, 1000)}\n${lines.join('\n').slice(0, 2 * MAX_CONVERSATION)}`;
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

async function run(options: AttributionOptions): Promise<void> {
  const { json } = options;
  const known = readLabels(resolveUserPath(options.labels));
  const file = resolveUserPath(options.attributions);
  if (options.engine !== undefined) await askEngine(options.engine, known, file, options);
  const named = readAttributions(file);
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
