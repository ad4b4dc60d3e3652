import { existsSync } from 'node:fs';
import { MeshError } from '../../core/contracts/errors.ts';
import { complain } from '../../evaluation/terminal/print.ts';

export interface OtlpOption {
  readonly otlp?: string;
}

/** Where the runs of a command are exported to. */
export interface RunExports {
  /** Exports the archive of a run that has ended. A collector that is gone costs no result: it is said, and the exit code tells. */
  run(archive: string, name?: string): Promise<void>;
}

const NOWHERE: RunExports = { run: () => Promise.resolve() };

/**
 * What `--otlp` asks for, looked at before anything is started. Without it nothing of OpenTelemetry is loaded.
 *
 * @throws MeshError with what is wrong with it
 */
export async function runExports({ otlp }: OtlpOption): Promise<RunExports> {
  if (otlp === undefined) return NOWHERE;
  const { openOtlp } = await import('../../evaluation/export/otlp/otlp-target.ts');
  const target = await openOtlp(otlp);
  return {
    async run(archive, name) {
      if (!existsSync(archive)) return;
      try {
        complain(await target.export(archive, name));
      } catch (error) {
        if (!(error instanceof MeshError)) throw error;
        complain(`Not exported: ${error.message}. To try again: export ${archive} --as otlp --out ${otlp}`);
        process.exitCode ||= 1;
      }
    },
  };
}
