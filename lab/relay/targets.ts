import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import type net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { FrameSocket } from '@gaia-mesh/core/transports/tcp/frame-socket.ts';
import { answerHub } from '@gaia-mesh/core/wire/handshake.ts';
import { loadAdapter } from '@gaia-mesh/protocols/registry.ts';

/** A carrier of the load: a hub that dials the agents, or a broker that they dial. */
export interface RelayTarget {
  readonly name: TargetName;
  /** Description for the page. */
  readonly about: string;
  readonly wire: 'frames' | 'nats' | 'redis';
  /** Returns the command. `ports` are the agents' ports, or a broker's single port. It is missing where nothing runs. */
  command?(ports: readonly string[], folder: string): readonly string[];
  /** Secret for the handshake with the agents, if it makes one. */
  readonly secret?: string;
  /**
   * Performs the handshake of an agent, if it makes one. The hub sends nothing more until all agents are ready, so no
   * byte behind the handshake is read here.
   */
  shakeHands?(agentIndex: number, socket: net.Socket): Promise<void>;
  /** True if it prints one JSON line of its counters at the end. */
  readonly countsPackets?: boolean;
}

/** Names of the targets, in the order of all tables. */
export const TARGET_NAMES = [
  'run',
  'flood',
  'flood again',
  'Node relay',
  'C relay',
  'NATS',
  'Redis',
  'no hub',
] as const;
export type TargetName = (typeof TARGET_NAMES)[number];

/** Targets of other projects. */
export const PEERS = ['NATS', 'Redis'] as const satisfies readonly TargetName[];

/** Number of task ids that packets name in turn: in a run each is an open task. */
export const TASKS = 40;
/** Returns the id of an agent of the load; see `c/messages.c`. */
const formatAgentId = (index: number): string => `a${index.toString(16).padStart(2, '0')}`;

/** Time after which a destination that accepts nothing is cut off. */
const STALL_TIMEOUT_S = 0.2;
/** Tool that each agent claims: one to which a run hands documents. */
const AGENT_TOOL = 'search';

/** Timeout of the tasks, longer than any load: they stay open while a run is measured. */
const TASK_TIMEOUT_S = 600;
const RUN_SECRET = 'the secret of a relay that is measured';

const ENTRY = [process.execPath, path.join(codeFolder, 'scripts', 'gaia-mesh.js')];

/** Lists all targets that this machine has. */
export async function listInstalledTargets(): Promise<RelayTarget[]> {
  const relay = await compileProgram('relay');
  return [
    run,
    hubTarget('flood', '`npm run hub`: the same hub with nothing to observe and no task open'),
    hubTarget('flood again', 'the same a second time: what differs between the two is noise'),
    {
      name: 'Node relay',
      about: 'Node, framing, one writev a turn: the reference for a hub in Node',
      wire: 'frames',
      command: (ports) => [process.execPath, resolveScript('frame-relay.ts'), ...ports],
    },
    {
      name: 'C relay',
      about: 'epoll, framing, one writev a turn',
      wire: 'frames',
      command: (ports) => [relay, ...ports],
    },
    ...(await listInstalledBrokers()),
    {
      name: 'no hub',
      about:
        'two agents on one connection, with as many deliveries: what this machine and the generator take',
      wire: 'frames',
    },
  ];
}

/**
 * A batch as a user starts it, on a team of the load's agents. Its tasks wait for an answer that never comes.
 */
const run: RelayTarget = {
  name: 'run',
  about: '`npm run bench` with 40 open tasks: packets are observed, recorded and booked',
  wire: 'frames',
  secret: RUN_SECRET,
  command(ports, folder) {
    const agents = ports.map((port, index) => ({
      id: formatAgentId(index),
      tool: AGENT_TOOL,
      port: Number(port),
    }));
    const team = { version: 1, name: 'load', final: agents.at(-1)?.id, agents };
    const tasks = Array.from({ length: TASKS }, (_, index) => ({
      task_id: `t${String(index).padStart(2, '0')}`,
      question: 'Who answers?',
      document: 'Nobody does.',
    }));
    const [teamFile, taskFile] = [path.join(folder, 'team.yaml'), path.join(folder, 'tasks.jsonl')];
    // JSON is YAML, too.
    writeFileSync(teamFile, JSON.stringify(team));
    writeFileSync(taskFile, tasks.map((task) => `${JSON.stringify(task)}\n`).join(''));
    return [
      ...[...ENTRY, 'bench', '--team', teamFile, '--tasks', taskFile],
      ...['--external', agents.map(({ id }) => id).join(','), '--concurrency', String(TASKS)],
      ...['--timeout', String(TASK_TIMEOUT_S), '--out', path.join(folder, 'out')],
    ];
  },
  async shakeHands(agentIndex, socket) {
    await answerHub(FrameSocket.accept(socket.resume()), {
      node: formatAgentId(agentIndex),
      tool: AGENT_TOOL,
      secret: RUN_SECRET,
      subscribes: ['doc_init'],
      emits: ['e'],
      adapter: undefined,
      resolveAdapter: (name) => loadAdapter(name),
      isBusy: () => false,
    });
  },
};

function hubTarget(name: TargetName, about: string): RelayTarget {
  return {
    name,
    about,
    wire: 'frames',
    countsPackets: true,
    command: (ports) => [
      ...[...ENTRY, 'hub', '--ports', ports.join(',')],
      ...['--handshake', 'off', '--stall-timeout', String(STALL_TIMEOUT_S)],
    ],
  };
}

async function listInstalledBrokers(): Promise<RelayTarget[]> {
  const brokers = [
    {
      name: 'NATS',
      wire: 'nats',
      about: await readVersion('nats-server'),
      command: ([port = '']) => ['nats-server', '-a', '127.0.0.1', '-p', port],
    },
    {
      name: 'Redis',
      wire: 'redis',
      about: await readVersion('redis-server'),
      command: ([port = ''], folder) => [
        ...['redis-server', '--port', port, '--bind', '127.0.0.1', '--save', '', '--dir', folder],
        // The default would cut off a slow subscriber; here none may be lost.
        ...['--client-output-buffer-limit', 'pubsub 0 0 0'],
      ],
    },
  ] satisfies readonly (Omit<RelayTarget, 'about'> & { readonly about: string | undefined })[];
  return brokers.flatMap(({ about, ...broker }) => (about === undefined ? [] : [{ ...broker, about }]));
}

/** Lists brokers that are not installed and would be compared, too. */
export function listMissingTargets(targets: readonly RelayTarget[]): string[] {
  return PEERS.filter((name) => !targets.some((target) => target.name === name));
}

const execute = promisify(execFile);

const C_SOURCES = {
  load: ['load.c', 'messages.c', 'brokers.c', 'meters.c'],
  relay: ['relay.c'],
} as const;

/** Returns the path of a file in this folder. */
function resolveScript(...names: readonly string[]): string {
  return path.join(import.meta.dirname, ...names);
}

/**
 * Compiles a program from its C sources, once for each version of them, into the package's cache.
 *
 * @returns the path of the program
 * @throws MeshError `config` if there is no C compiler, or it fails
 */
export async function compileProgram(name: keyof typeof C_SOURCES): Promise<string> {
  const sources = C_SOURCES[name].map((file) => resolveScript('c', file));
  const hash = createHash('sha256').update(readFileSync(resolveScript('c', 'load.h')));
  for (const source of sources) hash.update(readFileSync(source));
  const folder = path.join(codeFolder, 'node_modules', '.cache', 'gaia-mesh', 'lab');
  const program = path.join(folder, `${name}-${os.arch()}-${hash.digest('hex').slice(0, 16)}`);
  if (existsSync(program)) return program;
  if (os.platform() !== 'linux') {
    throw new MeshError(
      'config',
      `perf --relay: its load generator needs epoll, so Linux; this is ${os.platform()}`,
    );
  }
  mkdirSync(folder, { recursive: true });
  const half = `${program}.${process.pid}`;
  for (const compiler of ['cc', 'gcc', 'clang']) {
    try {
      await execute(compiler, ['-O2', '-o', half, ...sources]);
      renameSync(half, program);
      return program;
    } catch (error) {
      if (isMissing(error)) continue;
      throw new MeshError('config', `${compiler} cannot compile ${name}: ${toErrorMessage(error)}`, {
        cause: error,
      });
    }
  }
  throw new MeshError(
    'config',
    'perf --relay: no C compiler (cc, gcc or clang) in PATH; the load generator is in C so that it is never the bottleneck. Debian: apt install gcc libc6-dev',
  );
}

/** Returns the first line of the version that `program` prints; undefined if it is not installed. */
async function readVersion(program: string): Promise<string | undefined> {
  try {
    const { stdout } = await execute(program, ['--version']);
    return stdout.trim().split('\n')[0];
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
