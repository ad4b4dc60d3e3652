import path from 'node:path';
import type { AgentPermissions } from '../../agent/spec.ts';
import { LOADAVG } from '../../system/platform.ts';
import { hasNamespaces, isolateNodeCommand } from '../../system/process/without-network.ts';

/** How a process is started that may do less than its parent. */
interface Confined {
  readonly program: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** It has no network of its own: it can only be reached over a port that its parent opened for it. */
  readonly isOffline: boolean;
}

/** What any program may need: where programs and the home are, language and time. No key is among them. */
const PLAIN_VARIABLES = /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|TERM|NO_COLOR|CI)$/;
/** How the network is reached, for those who may. */
const NETWORK_VARIABLES =
  /^((https?|no|all)_proxy|NODE_USE_ENV_PROXY|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR))$/i;

/**
 * How Node runs with `args` under {@link AgentPermissions}: files, processes and threads by Node's permission model, SQLite by its flag,
 * variables by name, and the network by a namespace without one, where this machine has those.
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
    // How busy the machine is, by which patience is measured.
    `--allow-fs-read=${LOADAVG}`,
    ...[...readable, own, ...reads].map((name) => `--allow-fs-read=${name}`),
    ...[own, ...writes].map((name) => `--allow-fs-write=${name}`),
    ...(childProcesses === true ? ['--allow-child-process'] : []),
    ...(workers === true ? ['--allow-worker'] : []),
    // It writes files that the permission model does not see.
    ...(store === true ? [] : ['--no-experimental-sqlite']),
  ];
  const isOffline = network !== true && hasNamespaces();
  const all = [...flags, ...args];
  return {
    ...(isOffline ? isolateNodeCommand(all) : { program: process.execPath, args: all }),
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
