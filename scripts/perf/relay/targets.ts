import path from 'node:path';
import { packageFolder } from '../../../config/package-root.ts';
import { installedBrokers } from './brokers.ts';
import { compiled, scriptOf } from './programs.ts';

/** What is measured: a hub that dials the agents, or a broker that they dial. */
export interface Target {
  readonly name: TargetName;
  /** What it is, for the page. */
  readonly about: string;
  readonly wire: 'frames' | 'bytes' | 'nats' | 'redis' | 'mqtt' | 'ws';
  /** `ports` are the agents'; of a broker its own, alone. */
  command(ports: readonly string[], folder: string): readonly string[];
  /** Whether it prints one JSON line of its books at the end. */
  readonly keepsBooks?: boolean;
}

export const TARGET_NAMES = [
  'hub',
  'hub again',
  'raw Node',
  'C relay',
  'naive',
  'no peek',
  'NATS',
  'Redis',
  'Mosquitto',
  'ws',
] as const;
export type TargetName = (typeof TARGET_NAMES)[number];

/** Those of other projects. */
export const PEERS = ['NATS', 'Redis', 'Mosquitto', 'ws'] as const satisfies readonly TargetName[];

/** Whether the agents dial it; a hub dials them. */
export function isBroker({ wire }: Target): boolean {
  return wire !== 'frames' && wire !== 'bytes';
}

/** A destination of the stuck scenario is cut off after this time. */
const STALL_TIMEOUT_S = 0.2;

/** All targets that this machine has; the brokers that are not installed are left out. */
export async function installedTargets(): Promise<Target[]> {
  const relay = await compiled('relay');
  const entry = path.join(packageFolder, 'scripts', 'gaia-mesh.js');
  const hub = (name: TargetName, about: string): Target => ({
    name,
    about,
    wire: 'frames',
    keepsBooks: true,
    command: (ports) => [
      ...[process.execPath, entry, 'hub', '--ports', ports.join(',')],
      ...['--handshake', 'off', '--stall-timeout', String(STALL_TIMEOUT_S)],
    ],
  });
  const script = (
    name: TargetName,
    file: string,
    about: string,
    wire: Target['wire'] = 'frames',
  ): Target => ({
    name,
    about,
    wire,
    command: (ports) => [process.execPath, scriptOf(file), ...ports],
  });
  // Set for what is started from here, too: see `gaia-mesh.js`.
  const isBundled = process.env.GAIA_MESH_BUNDLE !== undefined;
  const origin = isBundled
    ? 'the bundle that an installation makes'
    : 'the sources, as they have changed since the last bundle';
  const own: Target[] = [
    hub('hub', `\`npm run hub -- --handshake off\`, from ${origin}`),
    hub('hub again', 'the same a second time: what differs between the two is noise'),
    script('raw Node', 'raw-forwarder.ts', 'Node forwarding chunks to all others, no framing', 'bytes'),
    {
      name: 'C relay',
      about: 'epoll, framing, one writev a turn',
      wire: 'frames',
      command: (ports) => [relay, ...ports],
    },
    script('naive', 'naive-hub.ts', 'read 4, read n, parse, write head and body to each, await every drain'),
    script('no peek', 'decoding-hub.ts', 'this hub, every packet decoded and validated whole'),
  ];
  return [...own, ...(await installedBrokers())];
}
