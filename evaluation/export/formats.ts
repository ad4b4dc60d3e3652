import { MeshError } from '../../core/contracts/errors.ts';
import { writeWhole } from '../../core/system/files/whole-file.ts';
import { userPath } from '../../core/system/user-paths.ts';
import { type ExportedRun, readExportedRun } from './exported-run.ts';

interface ExportFormat {
  /** For `--help`. */
  readonly about: string;
  /** What `--out` is without one. */
  readonly out: string;
  /** Writes what `archive` holds to `out`, as the user typed it; says what was written. */
  readonly write: (archive: string, out: string) => Promise<string>;
}

/** What a run is taken elsewhere as. Each loads what it needs, since it is one that is asked for. */
const FORMATS: Readonly<Record<string, ExportFormat>> = {
  otlp: {
    about: 'OpenTelemetry spans and metrics: into a file, or to the URL of a collector',
    out: 'spans.jsonl',
    write: async (archive, out) => {
      const { openOtlp } = await import('./otlp/otlp-target.ts');
      return (await openOtlp(out)).export(archive);
    },
  },
  parquet: {
    about: 'Parquet files in a folder: packets, answers, tokens, exchanges; of a comparison its rounds',
    out: 'data',
    write: async (archive, out) => (await import('./parquet/write-parquet.ts')).writeParquet(archive, out),
  },
  perfetto: {
    about: 'a trace for ui.perfetto.dev: who worked when, and because of what',
    out: 'trace.json',
    write: textFile(async (run) => (await import('./perfetto.ts')).perfettoTrace(run)),
  },
};

export const exportFormats: ReadonlyMap<string, ExportFormat> = new Map(Object.entries(FORMATS));

/** @throws MeshError `usage` with the formats that there are */
export function exportFormat(name: string): ExportFormat {
  const format = exportFormats.get(name);
  if (format !== undefined) return format;
  throw new MeshError(
    'usage',
    `--as: expected ${[...exportFormats.keys()].join(', ')}, not ${JSON.stringify(name)}`,
  );
}

function textFile(textOf: (run: ExportedRun) => Promise<string>): ExportFormat['write'] {
  return async (archive, out) => {
    const file = userPath(out);
    writeWhole(file, await textOf(await readExportedRun(archive)));
    return `written: ${file}`;
  };
}
