import { metricsSchema } from '@gaia-mesh/core/run/metrics/metrics-schema.ts';
import { answerSchema } from '@gaia-mesh/evaluation/results/answers.ts';
import { taskResultSchema } from '@gaia-mesh/evaluation/results/task-result.ts';
import * as z from 'zod';

type JsonSchema = z.core.JSONSchema.JSONSchema;

/** `docs/metrics.md`: every key of the results files, as their schemas describe them. */
export function formatMetricsPage(): string {
  const files = [
    ['metrics.json', METRICS, metricsSchema],
    ['results.jsonl', RESULTS, taskResultSchema],
    ['answers.jsonl', ANSWERS, answerSchema],
  ] as const;
  const shared = new Map<string, JsonSchema>();
  const parts = files.map(([name, about, schema]) => {
    const json = z.toJSONSchema(schema);
    for (const [id, definition] of Object.entries(json.$defs ?? {})) shared.set(id, definition);
    return [`## ${name}`, about, ...formatSections('', json)].join('\n\n');
  });
  const groups = [...shared].flatMap(([id, schema]) => [
    `### ${id}`,
    ...(schema.description === undefined ? [] : [schema.description]),
    formatSchemaTable(schema),
  ]);
  return `${[HEAD, ...parts, '## Groups', GROUPS, ...groups].join('\n\n')}\n`;
}

const HEAD = `# Results files, key by key

Written by \`npm run docs\` from the schemas that the code is checked against; do not edit. Sizes are bytes, times are in the unit that the
name ends with, and sizes of frames include the length in front. A key that is marked *optional* is left out where there is nothing to say.`;

const METRICS = `What \`bench\` leaves of a run, in the folder of the results and in its archive. Of a batch it has sums over the tasks, and mean scores.
Scores are means over the tasks that have a true answer, and null where none has.`;

const RESULTS =
  'What `bench --tasks` leaves: a line for each task, written as soon as the task has ended. Scores are null where no true answer is known.';

const ANSWERS = `What \`gaia\` leaves, under the name that \`--out\` gives: a line for each question, cycle and team, in the order of the questions.
\`answers.leaderboard.jsonl\` beside it has \`task_id\`, \`model_answer\` and \`reasoning_trace\` of the first attempts, as GAIA's leaderboard takes them.`;

const GROUPS = 'Groups of keys that stand in several places above.';

/** The table of an object, and a section for each object in it. */
function formatSections(path: string, schema: JsonSchema): string[] {
  const inner = Object.entries(schema.properties ?? {}).flatMap(([key, value]) => {
    const property = asSchema(value);
    const found = findObject(property);
    if (found === undefined) return [];
    const name = `${path}${key}${found.suffix}`;
    const about = property.description === undefined ? [] : [property.description];
    return [`### ${name}`, ...about, ...formatSections(`${name}.`, found.object)];
  });
  return [formatSchemaTable(schema), ...inner];
}

/** The object that a property is, or holds a list or a map of. */
function findObject(property: JsonSchema): { object: JsonSchema; suffix: string } | undefined {
  const schema = stripNull(property);
  if (schema.properties !== undefined) return { object: schema, suffix: '' };
  const [inner, suffix] =
    schema.items === undefined ? [schema.additionalProperties, '.*'] : [schema.items, '[]'];
  if (inner === undefined || typeof inner !== 'object' || Array.isArray(inner)) return undefined;
  return inner.properties === undefined ? undefined : { object: inner, suffix };
}

function formatSchemaTable(schema: JsonSchema): string {
  const required = new Set(schema.required);
  const rows = Object.entries(schema.properties ?? {}).map(([key, value]) => {
    const property = asSchema(value);
    const about = property.description ?? stripNull(property).description ?? '';
    const shown = findObject(property) === undefined ? about : 'see below';
    return `| \`${key}\` | ${formatType(property)}${required.has(key) ? '' : ', optional'} | ${shown} |`;
  });
  return ['| key | type | meaning |', '| --- | --- | --- |', ...rows].join('\n');
}

function formatType(property: JsonSchema): string {
  const schema = stripNull(property);
  const name = formatPlainType(schema);
  return schema === property ? name : `${name} or null`;
}

function formatPlainType(schema: JsonSchema): string {
  if (schema.$ref !== undefined) {
    const id = schema.$ref.replace('#/$defs/', '');
    return `[${id}](#${id.replaceAll(' ', '-')})`;
  }
  if (schema.const !== undefined) return `\`${schema.const}\``;
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${value}\``).join(', ');
  if (schema.type === 'array') return `list of ${formatPlainType(asSchema(schema.items))}`;
  if (schema.type === 'object')
    return schema.properties === undefined
      ? `map of ${formatPlainType(asSchema(schema.additionalProperties))}`
      : 'object';
  return schema.type === 'string' ? 'text' : `${schema.type}`;
}

function stripNull(schema: JsonSchema): JsonSchema {
  if (Array.isArray(schema.type)) {
    const [type = 'null'] = schema.type.filter((name) => name !== 'null');
    return { ...schema, type };
  }
  const [only, ...others] = (schema.anyOf ?? []).map(asSchema).filter((one) => one.type !== 'null');
  return only === undefined || others.length > 0 ? schema : only;
}

/** A part of a schema. What is no schema is a bug here: ours have no such parts. */
function asSchema(part: JsonSchema['items']): JsonSchema {
  if (typeof part !== 'object' || Array.isArray(part)) throw new Error('expected a schema');
  return part;
}
