import { describeEnvironment } from '@gaia-mesh/core/run/manifest.ts';
import { packageVersion } from '@gaia-mesh/core/system/package-root.ts';
import { formatCommandLine } from '@gaia-mesh/core/system/shell-word.ts';
import { createRedactor } from '../batch/redact.ts';

/** The origin of a result: its command line, without secrets, and its machine. */
interface Making {
  readonly command: string;
  readonly machine: string;
}

/** Describes this process for the files that it writes. */
export function describeMaking(): Making {
  const [name = 'gaia', ...words] = process.argv.slice(2).map(createRedactor(process.env));
  const { cpu, cpus, node } = describeEnvironment(packageVersion);
  return {
    command: formatCommandLine(name, words),
    machine: `${cpu}, ${cpus} cores, Node ${node}`,
  };
}
