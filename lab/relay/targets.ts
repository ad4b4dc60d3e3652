import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { codeFolder } from '../../core/system/package-root.ts';
import { compiled, packageVersionOf, scriptOf, versionOf } from './programs.ts';

/** What carries the load: a hub that dials the agents, or a broker that they dial. */
export interface RelayTarget {
  readonly name: TargetName;
  /** What it is, for the page. */
  readonly about: string;
  readonly wire: 'frames' | 'bytes' | 'nats' | 'redis' | 'mqtt' | 'ws';
  /** `ports` are the agents'; of a broker its own, alone. */
  command(ports: readonly string[], folder: string): readonly string[];
  /** It shakes hands with the agents, by their names and this secret. */
  readonly secret?: string;
  /** It prints one JSON line of its counters at the end. */
  readonly countsPackets?: boolean;
}

/** In the order of all tables. The `other` ones are those of another checkout. */
export const TARGET_NAMES = [
  'run',
  'other run',
  'flood',
  'flood again',
  'other flood',
  'raw Node',
  'C relay',
  'naive',
  'NATS',
  'Redis',
  'Mosquitto',
  'ws',
] as const;
export type TargetName = (typeof TARGET_NAMES)[number];

/** Those of other projects. */
export const PEERS = ['NATS', 'Redis', 'Mosquitto', 'ws'] as const satisfies readonly TargetName[];

/** Whether the agents dial it; a hub dials them. */
export function isBroker({ wire }: RelayTarget): boolean {
  return wire !== 'frames' && wire !== 'bytes';
}

/** Task ids that packets name in turn: in a run each is an open task. */
export const TASKS = 40;
/** How an agent of the load is called; see `c/messages.c`. */
export const agentId = (index: number): string => `a${index.toString(16).padStart(2, '0')}`;

/** A destination that takes nothing is cut off after this time. */
const STALL_TIMEOUT_S = 0.2;
/** What each of them says it is: a tool that a run hands documents to. */
export const AGENT_TOOL = 'search';

/** Longer than any load: the tasks of a run stay open while it is measured. */
const TASK_TIMEOUT_S = 600;
const RUN_SECRET = 'the secret of a relay that is measured';

/** All targets that this machine has. `against`: the folder of another checkout, whose run and flood are measured beside ours. */
export async function installedTargets(against?: string): Promise<RelayTarget[]> {
  const relay = await compiled('relay');
  return [
    runOf('run', '`npm run bench` with 40 open tasks: packets are observed, recorded and booked', codeFolder),
    floodOf('flood', '`npm run hub`: the same hub with nothing to observe and no task open', codeFolder),
    floodOf('flood again', 'the same a second time: what differs between the two is noise', codeFolder),
    ...(against === undefined
      ? []
      : [
          runOf('other run', 'the run of the other checkout', against),
          floodOf('other flood', 'the flood of the other checkout', against),
        ]),
    scriptTarget('raw Node', 'raw-forwarder.ts', 'Node forwarding chunks to all others, no framing', 'bytes'),
    {
      name: 'C relay',
      about: 'epoll, framing, one writev a turn',
      wire: 'frames',
      command: (ports) => [relay, ...ports],
    },
    scriptTarget(
      'naive',
      'naive-hub.ts',
      'read 4, read n, parse, write head and body to each, await every drain',
    ),
    ...(await installedBrokers()),
  ];
}

function entryOf(checkout: string): readonly string[] {
  return [process.execPath, path.join(checkout, 'scripts', 'gaia-mesh.js')];
}

/** What a user starts: a batch on a team whose agents are those of the load. Its tasks wait for an answer that never comes. */
function runOf(name: TargetName, about: string, checkout: string): RelayTarget {
  return {
    name,
    about,
    wire: 'frames',
    secret: RUN_SECRET,
    command(ports, folder) {
      const agents = ports.map((port, index) => ({
        id: agentId(index),
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
        ...[...entryOf(checkout), 'bench', '--team', teamFile, '--tasks', taskFile],
        ...['--external', agents.map(({ id }) => id).join(','), '--concurrency', String(TASKS)],
        ...['--timeout', String(TASK_TIMEOUT_S), '--out', path.join(folder, 'out')],
      ];
    },
  };
}

function floodOf(name: TargetName, about: string, checkout: string): RelayTarget {
  return {
    name,
    about,
    wire: 'frames',
    countsPackets: true,
    command: (ports) => [
      ...[...entryOf(checkout), 'hub', '--ports', ports.join(',')],
      ...['--handshake', 'off', '--stall-timeout', String(STALL_TIMEOUT_S)],
    ],
  };
}

function scriptTarget(
  name: TargetName,
  file: string,
  about: string,
  wire: RelayTarget['wire'] = 'frames',
): RelayTarget {
  return { name, about, wire, command: (ports) => [process.execPath, scriptOf('peers', file), ...ports] };
}

async function installedBrokers(): Promise<RelayTarget[]> {
  const ws = packageVersionOf('ws');
  const brokers = [
    {
      name: 'NATS',
      wire: 'nats',
      about: await versionOf('nats-server', '--version'),
      command: ([port = '']) => ['nats-server', '-a', '127.0.0.1', '-p', port],
    },
    {
      name: 'Redis',
      wire: 'redis',
      about: await versionOf('redis-server', '--version'),
      command: ([port = ''], folder) => [
        ...['redis-server', '--port', port, '--bind', '127.0.0.1', '--save', '', '--dir', folder],
        // Its default cuts a slow subscriber off; nobody is to be lost here.
        ...['--client-output-buffer-limit', 'pubsub 0 0 0'],
      ],
    },
    {
      name: 'Mosquitto',
      wire: 'mqtt',
      about: await versionOf('mosquitto', '-h'),
      command([port = ''], folder) {
        const file = path.join(folder, 'mosquitto.conf');
        // By default it drops what a slow subscriber does not take.
        const settings = ['allow_anonymous true', 'max_queued_messages 0', 'set_tcp_nodelay true'];
        writeFileSync(file, [`listener ${port} 127.0.0.1`, ...settings, ''].join('\n'));
        return ['mosquitto', '-c', file];
      },
    },
    {
      name: 'ws',
      wire: 'ws',
      about: ws && `ws ${ws}, every message to all other clients`,
      command: ([port = '']) => [process.execPath, scriptOf('peers', 'ws-broadcast.ts'), port],
    },
  ] satisfies readonly (Omit<RelayTarget, 'about'> & { readonly about: string | undefined })[];
  return brokers.flatMap(({ about, ...broker }) => (about === undefined ? [] : [{ ...broker, about }]));
}

/** What would be compared, too, if the machine had it. */
export function missingTargets(targets: readonly RelayTarget[]): string[] {
  const missing = PEERS.filter((name) => !targets.some((target) => target.name === name));
  // There is no load for it either: its library is not among this project's packages.
  return [...missing, 'ZeroMQ'];
}
