import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { Worker } from 'node:worker_threads';
import { MeshError, readSystemCode } from '../contracts/errors.ts';
import { defineJob } from '../system/process/jobs.ts';

const readCode = (error: unknown) => readSystemCode(error) ?? String(error);

function codeOf(work: () => unknown): string {
  try {
    work();
    return 'allowed';
  } catch (error) {
    return readCode(error);
  }
}

let held = '';

/** Actions that a job might try. */
const actions: Readonly<Record<string, (bytes: Uint8Array) => string | Promise<string>>> = {
  echo: (bytes) => new TextDecoder().decode(bytes),
  pid: () => `${process.pid}`,
  /** Keeps its bytes, and returns those that it had kept. */
  keep: (bytes) => {
    const before = held;
    held = new TextDecoder().decode(bytes);
    return before;
  },
  read: () => codeOf(() => readFileSync('/etc/hosts')),
  write: () => codeOf(() => writeFileSync('job-program.txt', '')),
  spawn: () => codeOf(() => execFileSync(process.execPath, ['--version'])),
  thread: () => codeOf(() => new Worker('1', { eval: true })),
  code: () => codeOf(() => new Function('return 1')()),
  /** Connects to the port that its bytes name. */
  connect: async (bytes) => {
    const socket = connect(Number(new TextDecoder().decode(bytes)), '127.0.0.1');
    return once(socket, 'connect').then(() => 'connected', readCode);
  },
  sqlite: () => import('node:sqlite').then(() => 'allowed', readCode),
  environment: () => JSON.stringify(Object.keys(process.env)),
  print: () => {
    console.log('printed');
    return 'answered';
  },
  refuse: () => {
    throw new MeshError('tool', 'there is no such page');
  },
  throw: () => {
    throw new Error('no such thing');
  },
  'throw-long': () => {
    throw new Error(`too\n  long: ${'x'.repeat(4000)}`);
  },
  quit: () => process.exit(7),
  'throw-elsewhere': () => {
    setImmediate(() => {
      throw new Error('behind its back');
    });
    return new Promise(() => undefined);
  },
  hang: () => {
    for (;;);
  },
  eat: () => {
    const eaten: number[][] = [];
    for (;;) eaten.push(new Array(100_000).fill(eaten.length));
  },
  /** Takes memory that the limit of its heap does not count. */
  'eat-outside': () => {
    const eaten: Buffer[] = [];
    for (;;) eaten.push(Buffer.alloc(2 ** 24, 1));
  },
  flood: (bytes) => 'x'.repeat(Number(new TextDecoder().decode(bytes))),
};

interface Asked {
  readonly action: string;
  readonly bytes: Uint8Array;
}

function act({ action, bytes }: Asked): string | Promise<string> {
  return actions[action]?.(bytes) ?? 'no such action';
}

const program = new URL('./job-program.ts', import.meta.url);
export const plainJob = defineJob(program, 'plain', async () => act);
export const grantedJob = defineJob(program, 'granted', async () => act, { sqlite: true, threads: true });
export const blamingJob = defineJob(program, 'blaming', async () => act, { blamesInput: true });
/** Reports once every 300 ms, and answers after the fourth report. */
export const reportingJob = defineJob(
  program,
  'reporting',
  async () => async (_: undefined, report: (count: number) => void) => {
    for (let count = 0; count < 4; count++) {
      await new Promise((resolve) => setTimeout(resolve, 300));
      report(count);
    }
    return 'done';
  },
);
