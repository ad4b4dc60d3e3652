import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { readRecording } from '@gaia-mesh/core/recording/read-archive.ts';
import type { Recording } from '@gaia-mesh/core/recording/recording.ts';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { sampleComparison } from '@gaia-mesh/evaluation/compare/testing/sample-comparison.ts';
import { beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { callCli } from '../../testing/call-cli.ts';
import { temporaryFolder } from '../../testing/cli.ts';
import { openPipelineModel } from '../../testing/pipeline-model.ts';
import { taskFile } from '../../testing/team-file.ts';
import { faultsOfTrace } from '../../testing/trace-event-format.ts';

const DOCUMENT = 'Ida built the bridge over the Orra. It has stood for eighty years. Its stones are grey.';
const page = readFileSync(path.join(codeFolder, 'docs', 'interoperate.md'), 'utf8');
const queries = [...page.matchAll(/^```sql\n([\s\S]*?)^```/gm)].map(([, sql = '']) => sql);

const comparisonOfOne = z.looseObject({ arms: z.array(z.looseObject({ samples_us: z.looseObject({}) })) });

const folder = temporaryFolder();
const archive = path.join(folder, 'run_artifacts.tar.gz');
const data = path.join(folder, 'data');
let recording: Recording;

const exported = (file: string, as: string, out: string) =>
  callCli(['export', file, '--as', as, '--out', out]);

beforeAll(async () => {
  const tasks = taskFile([
    { task_id: 'a', question: 'Who built the bridge?', document: DOCUMENT, answer: 'Ida' },
    { task_id: 'b', question: 'Who is it?', document: DOCUMENT, answer: 'Uta' },
  ]);
  const model = await openPipelineModel();
  const run = await callCli([
    ...['bench', '--tasks', tasks, '--out', folder, '--port-base', 'auto'],
    ...['--engine', 'openai', '--model', 'gpt-4o', '--host', `${model.url}/v1`],
  ]);
  await model.close();
  expect([run.code, run.stderr]).toEqual([0, expect.anything()]);
  recording = await readRecording(archive);
});

describe('as Parquet', () => {
  async function query(sql: string): Promise<Record<string, unknown>[]> {
    const database = await DuckDBInstance.create();
    const connection = await database.connect();
    try {
      await connection.run(`SET file_search_path = '${data}'`);
      const result = await connection.runAndReadAll(sql);
      return result.getRowObjectsJson();
    } finally {
      connection.closeSync();
      database.closeSync();
    }
  }

  beforeAll(async () => {
    const run = await exported(archive, 'parquet', data);
    expect([run.code, run.stdout]).toEqual([0, expect.stringContaining('answers.parquet (2)')]);
    const samples = [[10, 20.5], [30]];
    writeFileSync(path.join(data, 'comparison.json'), await comparisonWith(samples));
  });

  test.each(queries)('DuckDB answers the query of the page: %s', async (sql) => {
    const rows = await query(sql);
    expect(rows).not.toEqual([]);
    if (sql.includes('$.answer')) expect(rows).toContainEqual({ task_id: 'a', answer: 'Ida' });
  });

  test('packets are those of the recording', async () => {
    const rows = await query("SELECT * FROM 'packets.parquet' ORDER BY number");
    expect(rows).toHaveLength(recording.packets.length);
    for (const [index, { packet, cause, tool_us, relayed }] of recording.packets.entries()) {
      expect(rows[index]).toMatchObject({
        id: packet.id,
        sender: packet.from,
        recipient: packet.to ?? null,
        cause,
        tool_us,
        bytes: String(relayed?.bytes),
        token_used: String(packet.token_used),
        type: packet.type,
      });
      expect(JSON.parse(String(rows[index]?.payload))).toEqual(packet.payload);
    }
  });

  test('tokens sum to what the server counted', async () => {
    const [tokens] = await query("SELECT sum(tokens)::INT AS tokens FROM 'tokens.parquet'");
    const [asked] = await query(
      "SELECT sum(prompt_tokens + completion_tokens)::INT AS tokens FROM 'exchanges.parquet'",
    );
    expect([tokens, asked]).toEqual([{ tokens: 880 }, { tokens: 880 }]);
  });

  test('questions come back from it', async () => {
    const file = path.join(data, 'metadata.parquet');
    const database = await DuckDBInstance.create();
    const connection = await database.connect();
    await connection.run(`COPY (SELECT 'q1' AS task_id, 'How many?' AS "Question", '2' AS "Level", 'three' AS "Final answer",
      'list.csv' AS file_name, '2023/validation/list.csv' AS file_path, {'Steps': '1. Count'} AS "Annotator Metadata")
      TO '${file}' (FORMAT parquet, COMPRESSION zstd)`);
    connection.closeSync();
    writeFileSync(path.join(data, 'list.csv'), 'name\na\nb\nc\n');
    const out = path.join(temporaryFolder(), 'answers.jsonl');
    const run = await callCli(['gaia', '--questions', file, '--team', 'pipeline', '--out', out, '--json']);
    expect([run.code, run.stderr]).toEqual([0, expect.anything()]);
    expect(readFileSync(out, 'utf8')).toContain('"q1"');
    expect(run.stderr).not.toContain('missing');
  });
});

test('as a trace: slices lie apart or within each other, and each cause has its arrow', async () => {
  const out = path.join(folder, 'trace.json');
  expect((await exported(archive, 'perfetto', out)).code).toBe(0);
  interface Event {
    readonly ph: string;
    readonly name: string;
    readonly pid: number;
    readonly tid: number;
    readonly ts: number;
    readonly dur: number;
    readonly id: string;
  }
  const text = readFileSync(out, 'utf8');
  const { traceEvents }: { traceEvents: Event[] } = JSON.parse(text);
  const slices = traceEvents.filter(({ ph }) => ph === 'X');
  expect(slices).toHaveLength(recording.packets.length);
  for (const one of slices)
    for (const other of slices) {
      if (one === other || one.pid !== other.pid || one.tid !== other.tid) continue;
      const isApart = one.ts + one.dur <= other.ts || other.ts + other.dur <= one.ts;
      const isWithin = (a: Event, b: Event) => a.ts >= b.ts && a.ts + a.dur <= b.ts + b.dur;
      expect(isApart || isWithin(one, other) || isWithin(other, one)).toBe(true);
    }
  const caused = recording.packets.flatMap(({ cause, packet }) => (cause === null ? [] : [packet.id])).sort();
  for (const end of ['s', 'f'])
    expect(
      traceEvents
        .filter(({ ph }) => ph === end)
        .map(({ id }) => id)
        .sort(),
    ).toEqual(caused);
  expect(traceEvents.filter(({ ph, name }) => ph === 'b' && name === 'gpt-4o')).toHaveLength(8);
  expect(text).not.toContain('Orra');
  expect(faultsOfTrace(text)).toEqual([]);
});

interface ChangedEvent {
  readonly ph: string;
  readonly ts: number;
  readonly dur: number;
}

test.each<[string, string, (event: ChangedEvent) => object, string]>([
  // Beside the one that it was, and half of it later.
  [
    'slices that overlap',
    'X',
    ({ ts, dur }) => ({ ts: ts + (dur + 1) / 2, dur: dur + 1 }),
    'in which it began',
  ],
  ['an arrow that begins nowhere', 's', () => ({ tid: 99 }), 'not two ends'],
  ['an end of something that never began', 'e', () => ({ id: 'other' }), 'ends without'],
  ['a time that is none', 'X', () => ({ ts: -1 }), 'Too small'],
])('a trace with %s would be found out', async (_what, phase, change, fault) => {
  const out = path.join(temporaryFolder(), 'trace.json');
  expect((await exported(archive, 'perfetto', out)).code).toBe(0);
  const trace: { traceEvents: ChangedEvent[] } = JSON.parse(readFileSync(out, 'utf8'));
  const [longest] = trace.traceEvents
    .filter(({ ph }) => ph === phase)
    .sort((a, b) => (b.dur ?? 0) - (a.dur ?? 0));
  if (longest === undefined) throw new Error(`no ${phase}`);
  const traceEvents = [...trace.traceEvents, { ...longest, ...change(longest) }];
  expect(faultsOfTrace(JSON.stringify({ ...trace, traceEvents })).join('\n')).toContain(fault);
});

/** A comparison as one is written, with these samples of one adapter. */
async function comparisonWith(samples: readonly (readonly number[])[]): Promise<string> {
  const file = comparisonOfOne.parse(await sampleComparison(['json']));
  const arms = file.arms.map((row) => ({ ...row, samples_us: { ...row.samples_us, time: samples } }));
  return JSON.stringify({ ...file, arms });
}
