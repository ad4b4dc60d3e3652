import { closeSync, readSync } from 'node:fs';
import path from 'node:path';
import { isArchive } from '@gaia-mesh/core/recording/read-archive.ts';
import { openUserFile } from '@gaia-mesh/core/system/files/user-file.ts';
import { checkWritable, writeWhole } from '@gaia-mesh/core/system/files/whole-file.ts';
import { packageVersion } from '@gaia-mesh/core/system/package-root.ts';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { readComparison } from '../../compare/comparison-file.ts';
import { readExportedRun } from '../exported-run.ts';
import { buildRunTables } from './run-tables.ts';
import { createTable, type Table } from './table.ts';

/** Bytes that suffice to recognize a recording by its first line. */
const PROBE_BYTES = 200;

/**
 * Writes a run's tables, or the samples of a comparison, as Parquet files to the folder `out`.
 *
 * @returns a sentence about the files, for people
 */
export async function writeParquet(file: string, out: string): Promise<string> {
  const folder = resolveUserPath(out);
  checkWritable(folder);
  const tables = isComparison(file) ? [buildRoundsTable(file)] : buildRunTables(await readExportedRun(file));
  for (const table of tables) writeWhole(path.join(folder, `${table.name}.parquet`), encodeTable(table));
  const names = tables.map(({ name, rows }) => `${name}.parquet (${rows})`).join(', ');
  return `written to ${folder}: ${names}`;
}

function encodeTable({ columns }: Table): Uint8Array {
  return new Uint8Array(
    parquetWriteBuffer({ columnData: columns, createdBy: `gaia-mesh version ${packageVersion}` }),
  );
}

/** Tells if a file is a comparison, which is one JSON value. A recording identifies itself in its first line. */
function isComparison(file: string): boolean {
  if (isArchive(file)) return false;
  const start = Buffer.alloc(PROBE_BYTES);
  const descriptor = openUserFile(file, { what: 'comparison' });
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

/** Builds the table of a comparison's samples: one row per round. */
function buildRoundsTable(file: string): Table {
  const rows = readComparison(file).arms.flatMap(({ name, samples_us }) =>
    Object.entries(samples_us).flatMap(([metric, samples]) => flattenSamples(name, metric, samples)),
  );
  return createTable('rounds', rows, [
    ['arm', 'text', ({ arm }) => arm],
    ['metric', 'text', ({ metric }) => metric],
    ['invocation', 'integer', ({ invocation }) => invocation],
    ['round', 'integer', ({ round }) => round],
    ['us', 'number', ({ value }) => value],
  ]);
}

function flattenSamples(arm: string, metric: string, samples: readonly (readonly number[])[]): Sample[] {
  return samples.flatMap((rounds, invocation) =>
    rounds.map((value, round) => ({ arm, metric, invocation, round, value })),
  );
}
