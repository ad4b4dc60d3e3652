import path from 'node:path';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { checkWritable, writeWhole } from '@gaia-mesh/core/system/files/whole-file.ts';
import { withPackage } from '@gaia-mesh/core/system/optional-package.ts';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import { readExportedRun } from '../exported-run.ts';
import { runTelemetry } from './run-telemetry.ts';

const PACKAGES =
  '@opentelemetry/api@1 @opentelemetry/exporter-trace-otlp-proto@0.301 ' +
  '@opentelemetry/otlp-transformer@0.301 @opentelemetry/resources@3';
/** OpenTelemetry's own variable for the export of message contents: `true` or `false`. */
const CAPTURE = 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT';

/** The destination of a run's spans. */
interface OtlpTarget {
  /**
   * Exports the run in `archive`, or a recording.
   *
   * @param name distinguishes the runs of a command that makes several
   * @returns a sentence about the destination, for people
   */
  export(archive: string, name?: string): Promise<string>;
}

/**
 * Opens `target`: a file, or the URL of a collector. Faults of the target are reported now, before a run has begun.
 *
 * Contents (payloads, prompts, answers) are written to files; a collector gets them only if OpenTelemetry's own variable says so.
 *
 * @throws MeshError `usage` for another kind of URL, `config` if the packages are not installed, `io` for a folder that cannot be
 * written
 */
export async function openOtlp(target: string, option: '--otlp' | '--out'): Promise<OtlpTarget> {
  const url = parseTargetUrl(target, option);
  const otlp = await withPackage(
    PACKAGES,
    option === '--out' ? 'export --as otlp' : option,
    () => import('./open-telemetry.ts'),
  );
  if (url !== undefined) {
    const hasContents = process.env[CAPTURE] === 'true';
    return {
      async export(archive) {
        const telemetry = runTelemetry(await readExportedRun(archive), hasContents);
        let doubt: string | undefined;
        try {
          doubt = await otlp.send(telemetry, url);
        } catch (cause) {
          throw new MeshError(
            'io',
            `the collector at ${url} did not take ${telemetry.spans.length} spans: ${toErrorMessage(cause)}; a file name in place of the URL keeps them`,
            {
              cause,
            },
          );
        }
        const left = hasContents ? '' : `, without contents (${CAPTURE}=true sends them)`;
        return `${telemetry.spans.length} spans sent to ${url}${left}${doubt === undefined ? '' : `; ${doubt}`}`;
      },
    };
  }
  const hasContents = process.env[CAPTURE] !== 'false';
  checkWritable(path.dirname(resolveUserPath(target)));
  return {
    async export(archive, name) {
      const lines = otlp.formatSpans(runTelemetry(await readExportedRun(archive), hasContents));
      const { dir, name: stem, ext } = path.parse(resolveUserPath(target));
      const file = path.join(dir, `${stem}${name === undefined ? '' : `.${name}`}${ext}`);
      writeWhole(file, lines.map((line) => `${line}\n`).join(''));
      return `spans in ${file}`;
    },
  };
}

function parseTargetUrl(target: string, option: string): string | undefined {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(target)) return undefined;
  if (!URL.canParse(target) || !/^https?:$/.test(new URL(target).protocol))
    throw new MeshError(
      'usage',
      `${option}: expected a file or an http(s) URL of a collector, not ${target}`,
    );
  const { username, password } = new URL(target);
  if (username !== '' || password !== '')
    throw new MeshError(
      'usage',
      `${option}: a URL here takes no name and password, since commands are recorded; set OTEL_EXPORTER_OTLP_HEADERS`,
    );
  return target;
}
