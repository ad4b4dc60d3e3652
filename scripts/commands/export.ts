import { existsSync } from 'node:fs';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues } from '@gaia-mesh/core/contracts/packet.ts';
import {
  argument,
  choice,
  defineTable,
  option,
  output,
  text,
} from '@gaia-mesh/evaluation/plan/option-table.ts';
import { print } from '@gaia-mesh/evaluation/terminal/print.ts';
import type { Command } from 'commander';
import * as z from 'zod';
import { defineOptions } from '../command-line/options.ts';
import { findArchive } from '../command-line/result-folder.ts';

interface ExportFormat {
  readonly about: string;
  /** The default of `--out`. */
  readonly out: string;
  /** The schema of `--out`: a file, which may be an address, or a folder. */
  readonly place: typeof output.file;
  /** Writes the content of `archive` to `out`, a path as the user typed it; returns what was written, in words. */
  readonly write: (archive: string, out: string) => Promise<string>;
}

/** The formats of `--as`. Each loads its dependencies when it is used. */
const FORMATS: Readonly<Record<'otlp' | 'parquet' | 'perfetto', ExportFormat>> = {
  otlp: {
    about: 'OpenTelemetry spans: into a file, or to the URL of a collector',
    out: 'spans.jsonl',
    place: output.file,
    write: async (archive, out) => {
      const { openOtlp } = await import('@gaia-mesh/evaluation/export/otlp/otlp-target.ts');
      return (await openOtlp(out, '--out')).export(archive);
    },
  },
  parquet: {
    about: 'Parquet files in a folder: packets, answers, tokens, exchanges',
    out: 'data',
    place: output.folder,
    write: async (archive, out) => {
      const { writeParquet } = await import('@gaia-mesh/evaluation/export/parquet/write-parquet.ts');
      return writeParquet(archive, out);
    },
  },
  perfetto: {
    about: 'a trace for ui.perfetto.dev: who worked when, and because of what',
    out: 'trace.json',
    place: output.file,
    write: async (archive, out) => {
      const { writePerfetto } = await import('@gaia-mesh/evaluation/export/perfetto.ts');
      return writePerfetto(archive, out);
    },
  },
};

const exportTable = defineTable({
  options: z.object({
    archive: argument(
      '[archive]',
      'export this archive or recording (default: the last run)',
      z.string().optional(),
    ),
    as: option('<format>', 'choose the format, see below', choice(['otlp', 'parquet', 'perfetto'])),
    out: option('<place>', 'write to this file, folder or address', text.optional()),
  }),
});

export function exportCommand(command: Command): void {
  const formats = Object.entries(FORMATS).map(([name, { about }]) => `  ${name.padEnd(10)} ${about}`);
  defineOptions(command, exportTable, run).addHelpText('after', `\nFormats:\n${formats.join('\n')}\n`);
}

/** Writes a run in a format that other tools read. */
async function run({ archive, as, out }: z.output<typeof exportTable.options>): Promise<void> {
  const format = FORMATS[as];
  const place = format.place.safeParse(out ?? format.out);
  if (!place.success)
    throw new MeshError('usage', `--out ${out ?? format.out}: ${formatIssues(place.error)}`);
  print(await format.write(resolveArchive(archive), place.data));
}

function resolveArchive(archive: string | undefined): string {
  const file = findArchive(archive);
  if (existsSync(file)) return file;
  throw new MeshError('config', `${file}: there is no such file`);
}
