import { closeSync, openSync, readSync, statSync } from 'node:fs';
import path from 'node:path';
import { isArchive } from '@gaia-mesh/core/recording/read-archive.ts';
import { checkWritable, writeWhole } from '@gaia-mesh/core/system/files/whole-file.ts';
import { packageVersion } from '@gaia-mesh/core/system/package-root.ts';
import { userPath } from '@gaia-mesh/core/system/user-paths.ts';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { comparisonFileText, parseComparison } from '../../compare/comparison-file.ts';
import { isStacksFile, parseStacks } from '../../compare/stacks/figures/stacks-file.ts';
import { readExportedRun } from '../exported-run.ts';
import { runTables } from './run-tables.ts';
import { type Table, tableOf } from './table.ts';

/** Enough to see the kind of a recording's first line. */
const PROBE_BYTES = 200;

/**
 * Writes a run's tables, or the samples of a comparison, as Parquet files of the folder `out`.
 *
 * @returns what was written, for people
 */
export async function writeParquet(file: string, out: string): Promise<string> {
  const folder = userPath(out);
  checkWritable(folder);
  const tables = isComparison(file)
    ? [roundsTable(comparisonFileText(file), file)]
    : runTables(await readExportedRun(file));
  for (const table of tables) writeWhole(path.join(folder, `${table.name}.parquet`), bytesOf(table));
  const names = tables.map(({ name, rows }) => `${name}.parquet (${rows})`).join(', ');
  return `written to ${folder}: ${names}`;
}

function bytesOf({ columns }: Table): Uint8Array {
  return new Uint8Array(
    parquetWriteBuffer({ columnData: columns, createdBy: `gaia-mesh version ${packageVersion}` }),
  );
}

/** A comparison is one JSON value; a recording says in its first line that it is one. */
function isComparison(file: string): boolean {
  if (!statSync(file).isFile() || isArchive(file)) return false;
  const start = Buffer.alloc(PROBE_BYTES);
  const descriptor = openSync(file, 'r');
  readSync(descriptor, start);
  closeSync(descriptor);
  return start[0] === 0x7b && !start.includes('gaia-mesh-recording');
}

interface Sample {
  readonly arm: string;
  readonly metric: string;
  readonly invocation: number;
  readonly round: number;
  readonly value: number;
}

/** The samples of a comparison, of adapters or of stacks: a line a round. */
function roundsTable(text: string, where: string): Table {
  const rows = isStacksFile(text) ? readStackSamples(text, where) : adapterSamples(text, where);
  return tableOf('rounds', rows, [
    ['arm', 'text', ({ arm }) => arm],
    ['metric', 'text', ({ metric }) => metric],
    ['invocation', 'integer', ({ invocation }) => invocation],
    ['round', 'integer', ({ round }) => round],
    ['us', 'number', ({ value }) => value],
  ]);
}

function adapterSamples(text: string, where: string): Sample[] {
  return parseComparison(text, where).adapters.flatMap((row) => [
    ...samplesOf(row.adapter, 'time', row.samples_us),
    ...samplesOf(row.adapter, 'cpu', row.samples_cpu_us ?? []),
    ...samplesOf(
      row.adapter,
      'first_use',
      row.samples_first_us.map((us) => [us]),
    ),
  ]);
}

function readStackSamples(text: string, where: string): Sample[] {
  return parseStacks(text, where).arms.flatMap((row) =>
    Object.entries(row.samples).flatMap(([metric, samples]) =>
      samplesOf(row.name, metric.replace(/_us$/, ''), samples),
    ),
  );
}

function samplesOf(arm: string, metric: string, samples: readonly (readonly number[])[]): Sample[] {
  return samples.flatMap((rounds, invocation) =>
    rounds.map((value, round) => ({ arm, metric, invocation, round, value })),
  );
}
