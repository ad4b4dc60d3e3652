import { existsSync } from 'node:fs';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { formatCommandLine } from '@gaia-mesh/core/system/shell-word.ts';
import { printError } from '@gaia-mesh/evaluation/terminal/print.ts';
import { EXIT } from './exit-code.ts';

/**
 * Exports the archive of a run that has ended, and returns whether the collector has it. When the collector is unreachable, the
 * results stay and the exit code reports the failure.
 */
type ExportRun = (archive: string, name?: string) => Promise<boolean>;

/**
 * Checks `--otlp` before the run starts and returns the exporter. Without the option, no module of OpenTelemetry is
 * loaded.
 *
 * @throws MeshError with the fault of the option
 */
export async function runExporter(otlp: string | undefined): Promise<ExportRun> {
  if (otlp === undefined) return async () => true;
  const { openOtlp } = await import('@gaia-mesh/evaluation/export/otlp/otlp-target.ts');
  const target = await openOtlp(otlp, '--otlp');
  return async (archive, name) => {
    if (!existsSync(archive)) return true;
    try {
      printError(await target.export(archive, name));
      return true;
    } catch (error) {
      if (!(error instanceof MeshError)) throw error;
      printError(
        `Not exported: ${error.message}. To try again: ${formatCommandLine('export', [archive, '--as', 'otlp', '--out', otlp])}`,
      );
      process.exitCode ||= EXIT.failed;
      return false;
    }
  };
}
