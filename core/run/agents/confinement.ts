import path from 'node:path';
import type { AgentPermissions } from '../../agent/spec.ts';
import { LOADAVG } from '../../system/platform.ts';
import { hasNamespaces, isolateCommand } from '../../system/process/without-network.ts';

/** Command of a process with fewer permissions than its parent. */
interface Confined {
  readonly program: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /**
   * True if it has no network of its own: it can only be reached over a port that its parent opened for it.
   */
  readonly isOffline: boolean;
}

/** Variables that any program may need: search path and home, language and time. No key is among them. */
const PLAIN_VARIABLES = /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|TERM|NO_COLOR|CI)$/;
/** Variables that configure network access, for agents that have it. */
const NETWORK_VARIABLES =
  /^((https?|no|all)_proxy|NODE_USE_ENV_PROXY|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR))$/i;

/**
 * Builds the command that runs Node with `args` under {@link AgentPermissions}: Node's permission model
 * restricts files, processes and threads; a flag restricts SQLite; variables are chosen by name; and a
 * namespace without a network isolates the process, where this machine supports namespaces.
 */
export function buildConfinedCommand(
  args: readonly string[],
  permissions: AgentPermissions,
  readable: readonly string[],
  workspace: string,
  environment: Readonly<Record<string, string | undefined>>,
): Confined {
  const { reads = [], writes = [], childProcesses, workers, store, network } = permissions;
  const own = workspace + path.sep;
  const flags = [
    '--permission',
    // The load of the machine, by which patience is measured.
    `--allow-fs-read=${LOADAVG}`,
    ...[...readable, own, ...reads].map((name) => `--allow-fs-read=${name}`),
    ...[own, ...writes].map((name) => `--allow-fs-write=${name}`),
    ...(childProcesses === true ? ['--allow-child-process'] : []),
    ...(workers === true ? ['--allow-worker'] : []),
    // SQLite writes files that the permission model does not see.
    ...(store === true ? [] : ['--no-experimental-sqlite']),
  ];
  const isOffline = network !== true && hasNamespaces();
  const all = [...flags, ...args];
  return {
    ...(isOffline ? isolateCommand(all) : { program: process.execPath, args: all }),
    environment: pickVariables(permissions, environment),
    isOffline,
  };
}

function pickVariables(
  { environment: named = [], network }: AgentPermissions,
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => {
      const isAllowed =
        named === 'all' ||
        named.includes(name) ||
        PLAIN_VARIABLES.test(name) ||
        (network === true && NETWORK_VARIABLES.test(name));
      return isAllowed && value !== undefined ? [[name, value]] : [];
    }),
  );
}
