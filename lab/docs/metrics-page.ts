import { metricsSchema } from '@gaia-mesh/core/run/metrics/metrics-schema.ts';
import { runEventSchema } from '@gaia-mesh/core/run/run-event.ts';
import { attemptSchema } from '@gaia-mesh/evaluation/attempts/attempt.ts';
import { answerSchema } from '@gaia-mesh/evaluation/results/write-results.ts';
import * as z from 'zod';

type JsonSchema = z.core.JSONSchema.JSONSchema;

/** Formats `docs/metrics.md`: every key of the results files, as their schemas describe them. */
export function formatMetricsPage(): string {
  const files = [
    ['metrics.json', METRICS, metricsSchema],
    ['results.jsonl', RESULTS, attemptSchema],
    ['answers.jsonl', ANSWERS, answerSchema],
  ] as const;
  const shared = new Map<string, JsonSchema>();
  const parts = files.map(([name, about, schema]) => {
    const json = z.toJSONSchema(schema);
    for (const [id, definition] of Object.entries(json.$defs ?? {})) shared.set(id, definition);
    return [`## ${name}`, about, formatSchemaTable(json)].join('\n\n');
  });
  const groups = [...shared].flatMap(([id, schema]) => [
    `### ${id}`,
    ...(schema.description === undefined ? [] : [schema.description]),
    formatSchemaTable(schema),
  ]);
  return `${[HEAD, ...parts, '## hub.log', EVENTS, formatEventTable(), '## Groups', GROUPS, ...groups].join('\n\n')}\n`;
}

const HEAD = `# Results files, key by key

\`npm run docs\` writes this page from the schemas that the code is checked against; do not edit it. Sizes are bytes, times have the unit at the end of
their name, and sizes of frames include the length prefix. *Optional* keys are absent if they do not apply. \`agents[].id\` is the key \`id\` of each
element of the list \`agents\`; \`*\` stands for any key of a map.`;

const METRICS = `\`bench\` writes this file for a run, into the folder of the results and its archive. For a batch it has sums over the tasks and mean scores of the
tasks that have a true answer.`;

const RESULTS =
  '`bench --tasks` writes a line for each task as soon as it has ended. Scores are null without a true answer.';

const ANSWERS = `\`gaia\` writes a line for each question, cycle and team, in the order of the questions, to the file that \`--out\` names.
\`answers.leaderboard.jsonl\` beside it has \`task_id\`, \`model_answer\` and \`reasoning_trace\` of the first attempts for GAIA's leaderboard.`;

const EVENTS = `The hub writes a line to \`workspaces/hub.log\` for each event of a run as it happens, with its \`time\` in milliseconds since 1970; lines with the
\`level\` \`warn\` tell what was refused, lost or injected. A live page receives the same events; those from \`totals\` on are for pages alone.`;

const GROUPS = 'Groups of keys that the tables above refer to.';

/** Finds the object in a property: itself, or the items of its list or map. */
function findObject(property: JsonSchema): { object: JsonSchema; suffix: string } | undefined {
  const schema = stripNull(property);
  if (schema.properties !== undefined) return { object: schema, suffix: '' };
  const [inner, suffix] =
    schema.items === undefined ? [schema.additionalProperties, '.*'] : [schema.items, '[]'];
  if (inner === undefined || typeof inner !== 'object' || Array.isArray(inner)) return undefined;
  return inner.properties === undefined ? undefined : { object: inner, suffix };
}

function formatSchemaTable(schema: JsonSchema): string {
  return ['| key | type | meaning |', '| --- | --- | --- |', ...formatRows('', schema)].join('\n');
}

/** A row for each event, and for each of its keys except those of all events. */
function formatEventTable(): string {
  const events = z.toJSONSchema(runEventSchema).oneOf ?? [];
  const rows = events.flatMap((event) => {
    const { event: name, time: _time, level: _level, n: _n, ...properties } = event.properties ?? {};
    const own = { ...event, properties };
    return [`| **${asSchema(name).const}** | | ${event.description} |`, ...formatRows('', own)];
  });
  return ['| event, key | type | meaning |', '| --- | --- | --- |', ...rows].join('\n');
}

/** A row for each key; the keys of an object within follow its own row. */
function formatRows(path: string, schema: JsonSchema): string[] {
  const required = new Set(schema.required);
  return Object.entries(schema.properties ?? {}).flatMap(([key, value]) => {
    const property = asSchema(value);
    const about = property.description ?? stripNull(property).description ?? '';
    const found = findObject(property);
    const type = `${formatType(property)}${required.has(key) ? '' : ', optional'}`;
    const row = `| \`${path}${key}\` | ${type} | ${about} |`;
    return found === undefined ? [row] : [row, ...formatRows(`${path}${key}${found.suffix}.`, found.object)];
  });
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

/** Checks that a part is a schema; anything else is a bug, since these schemas have no other parts. */
function asSchema(part: JsonSchema['items']): JsonSchema {
  if (typeof part !== 'object' || Array.isArray(part)) throw new Error('expected a schema');
  return part;
}
