import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { packageVersionOf, scriptOf, versionOf } from './programs.ts';
import type { Target } from './targets.ts';

interface Broker extends Omit<Target, 'about'> {
  /** What it says of its version; undefined where it is not installed. */
  version(): Promise<string | undefined>;
}

const BROKERS: readonly Broker[] = [
  {
    name: 'NATS',
    wire: 'nats',
    version: () => versionOf('nats-server', '--version'),
    command: ([port = '']) => ['nats-server', '-a', '127.0.0.1', '-p', port],
  },
  {
    name: 'Redis',
    wire: 'redis',
    version: () => versionOf('redis-server', '--version'),
    command: ([port = ''], folder) => [
      ...['redis-server', '--port', port, '--bind', '127.0.0.1', '--save', '', '--dir', folder],
      // Its default cuts a slow subscriber off; nobody is to be lost here.
      ...['--client-output-buffer-limit', 'pubsub 0 0 0'],
    ],
  },
  {
    name: 'Mosquitto',
    wire: 'mqtt',
    version: () => versionOf('mosquitto', '-h'),
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
  {
    name: 'ws',
    wire: 'ws',
    async version() {
      const version = packageVersionOf('ws');
      return version === undefined ? undefined : `ws ${version}, every message to all other clients`;
    },
    command: ([port = '']) => [process.execPath, scriptOf('ws-broadcast.ts'), port],
  },
];

/** Those that this machine has. */
export async function installedBrokers(): Promise<Target[]> {
  const installed = await Promise.all(
    BROKERS.map(async ({ version, ...target }) => {
      const about = await version();
      return about === undefined ? [] : [{ ...target, about }];
    }),
  );
  return installed.flat();
}
