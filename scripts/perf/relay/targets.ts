import { writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { packageFolder } from '../../../config/package-root.ts';
import { compiled, scriptOf, versionOf } from './programs.ts';

/** What is measured: a hub that dials the agents, or a broker that they dial. */
export interface Target {
  readonly name: TargetName;
  /** What it is, for the page. */
  readonly about: string;
  readonly wire: 'frames' | 'bytes' | 'nats' | 'redis' | 'mqtt';
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
] as const;
export type TargetName = (typeof TARGET_NAMES)[number];

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
  const own: Target[] = [
    hub('hub', '`npm run hub -- --handshake off`'),
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
  const brokers: readonly (Target & { readonly program: string; readonly versionOption: string })[] = [
    {
      name: 'NATS',
      about: '',
      wire: 'nats',
      program: 'nats-server',
      versionOption: '--version',
      command: ([port = '']) => ['nats-server', '-a', '127.0.0.1', '-p', port],
    },
    {
      name: 'Redis',
      about: '',
      wire: 'redis',
      program: 'redis-server',
      versionOption: '--version',
      command: ([port = ''], folder) => [
        ...['redis-server', '--port', port, '--bind', '127.0.0.1', '--save', '', '--dir', folder],
        // Its default cuts a slow subscriber off; nobody is to be lost here.
        ...['--client-output-buffer-limit', 'pubsub 0 0 0'],
      ],
    },
    {
      name: 'Mosquitto',
      about: '',
      wire: 'mqtt',
      program: 'mosquitto',
      versionOption: '-h',
      command([port = ''], folder) {
        const file = path.join(folder, 'mosquitto.conf');
        // By default it drops what a slow subscriber does not take.
        writeFileSync(
          file,
          `listener ${port} 127.0.0.1\nallow_anonymous true\nmax_queued_messages 0\nset_tcp_nodelay true\n`,
        );
        return ['mosquitto', '-c', file];
      },
    },
  ];
  const installed = await Promise.all(
    brokers.map(async ({ program, versionOption, ...target }) => {
      const version = await versionOf(program, versionOption);
      return version === undefined ? [] : [{ ...target, about: version }];
    }),
  );
  return [...own, ...installed.flat()];
}

/** A port that nobody listens on. */
export async function freePort(): Promise<string> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0 }, resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  await new Promise((resolve) => server.close(resolve));
  return String(port);
}
