import { existsSync } from 'node:fs';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import { print } from '@gaia-mesh/evaluation/terminal/print.ts';
import type { Command } from 'commander';
import { findLastArchive } from '../command-line/result-folder.ts';

interface ExportFormat {
  readonly about: string;
  /** The default of `--out`. */
  readonly out: string;
  /** Writes the content of `archive` to `out`, a path as the user typed it; returns what was written, in words. */
  readonly write: (archive: string, out: string) => Promise<string>;
}

/** The formats of `--as`. Each loads its dependencies when it is used. */
const FORMATS: ReadonlyMap<string, ExportFormat> = new Map([
  [
    'otlp',
    {
      about: 'OpenTelemetry spans and metrics: into a file, or to the URL of a collector',
      out: 'spans.jsonl',
      write: async (archive, out) => {
        const { openOtlp } = await import('@gaia-mesh/evaluation/export/otlp/otlp-target.ts');
        return (await openOtlp(out)).export(archive);
      },
    },
  ],
  [
    'parquet',
    {
      about: 'Parquet files in a folder: packets, answers, tokens, exchanges; of a comparison its rounds',
      out: 'data',
      write: async (archive, out) => {
        const { writeParquet } = await import('@gaia-mesh/evaluation/export/parquet/write-parquet.ts');
        return writeParquet(archive, out);
      },
    },
  ],
  [
    'perfetto',
    {
      about: 'a trace for ui.perfetto.dev: who worked when, and because of what',
      out: 'trace.json',
      write: async (archive, out) => {
        const { writePerfetto } = await import('@gaia-mesh/evaluation/export/perfetto.ts');
        return writePerfetto(archive, out);
      },
    },
  ],
]);
const NAMES = [...FORMATS.keys()].join(', ');

interface ExportCommandOptions {
  readonly as: string;
  readonly out?: string;
}

export function exportCommand(command: Command): void {
  const formats = [...FORMATS].map(([name, { about }]) => `  ${name.padEnd(10)} ${about}`);
  command
    .argument('[archive]', 'export this archive, recording or comparison.json (default: the last run)')
    .requiredOption('--as <format>', 'choose the format, see below')
    .option('--out <place>', 'write to this file, folder or address')
    .addHelpText('after', `\nFormats:\n${formats.join('\n')}\n`)
    .action(run);
}

/** Writes a run in a format that other tools read. */
async function run(archive: string | undefined, { as, out }: ExportCommandOptions): Promise<void> {
  const format = FORMATS.get(as);
  if (format === undefined)
    throw new MeshError('usage', `--as: expected ${NAMES}, not ${JSON.stringify(as)}`);
  print(await format.write(resolveArchive(archive), out ?? format.out));
}

function resolveArchive(archive: string | undefined): string {
  if (archive === undefined) return findLastArchive();
  const file = resolveUserPath(archive);
  if (existsSync(file)) return file;
  throw new MeshError('config', `${file}: there is no such file`);
}
