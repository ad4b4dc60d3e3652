import { MeshError } from '../../core/contracts/errors.ts';
import { openOtlp } from './otlp/otlp-target.ts';

interface ExportFormat {
  /** For `--help`: what it is, and what `--out` names. */
  readonly about: string;
  /** What `--out` is without one. */
  readonly out: string;
  /** Writes the run in `archive` to `out`, as the user typed it; says what was written. */
  readonly write: (archive: string, out: string) => Promise<string>;
}

/** What a run is taken elsewhere as. */
const FORMATS: Readonly<Record<string, ExportFormat>> = {
  otlp: {
    about: 'OpenTelemetry spans and metrics: a file, or the URL of a collector',
    out: 'spans.jsonl',
    write: async (archive, out) => (await openOtlp(out)).export(archive),
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
