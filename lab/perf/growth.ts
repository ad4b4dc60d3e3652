import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { formatRecording, parseRecording, type Recording } from '@gaia-mesh/core/recording/recording.ts';
import { Causes } from '@gaia-mesh/core/recording/run-record.ts';
import { parseJsonText } from '@gaia-mesh/core/system/parse-json.ts';
import { sampleHeader } from '@gaia-mesh/core/testing/sample-header.ts';
import { o200k } from '@gaia-mesh/core/tokens/o200k.ts';
import { readQuestions } from '@gaia-mesh/evaluation/questions/read-questions.ts';
import { loadTeam } from '@gaia-mesh/evaluation/teams/load-team.ts';
import { importTraffic } from '@gaia-mesh/evaluation/traffic/import-traffic.ts';

/** Foreign input of a size, and the work on it. */
interface Load {
  readonly name: string;
  /** The smallest size that is measured; it is doubled {@link DOUBLINGS} times. */
  readonly size: number;
  readonly prepare: (size: number, folder: string) => () => unknown;
}

/** The growth of a work's time with its input. */
export interface Growth {
  readonly name: string;
  readonly sizes: readonly number[];
  readonly ms: readonly number[];
  /** Time of the largest input, divided by that of half of it: 2 for linear work, 4 for quadratic work. */
  readonly ratio: number;
}

const DOUBLINGS = 2;
/** Each size is measured this often, and the fastest time counts: others are the machine's. */
const ROUNDS = 2;

const range = (size: number) => Array.from({ length: size }, (_, index) => index);
const toPacket = (index: number, type = 'said') => ({
  id: `p-${index}`,
  from: String(index % 4),
  task_id: 't',
  type,
  token_used: 0,
  ts: 1,
  payload: {},
});

function prepareFile(folder: string, name: string, text: string): string {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  return file;
}

function writeCauses(size: number, typeOf: (index: number) => string): () => void {
  const packets = range(size).map((index) => toPacket(index, typeOf(index)));
  return () => {
    const causes = new Causes();
    for (const packet of packets) {
      causes.of(packet, undefined, ['never sent']);
      causes.add(packet);
    }
  };
}

function writeRecording(size: number): string {
  const packets: Recording['packets'] = range(size).map((index) => ({
    cause: index === 0 ? null : `p-${index - 1}`,
    toolUs: null,
    packet: toPacket(index),
  }));
  return formatRecording({
    header: { ...sampleHeader, agents: range(4).map((id) => ({ id: String(id), tool: 'x' })) },
    packets,
  }).join('');
}

const tokens = (name: string, unit: string): Load => ({
  name: `tokens of ${name}`,
  size: 100_000,
  prepare: (size) => {
    const text = unit.repeat(size / unit.length);
    return () => o200k.count(text);
  },
});

const LOADS: readonly Load[] = [
  { name: 'causes of packets', size: 20_000, prepare: (size) => writeCauses(size, () => 'said') },
  { name: 'causes of packets of invented types', size: 20_000, prepare: (size) => writeCauses(size, String) },
  tokens('one letter', 'x'),
  tokens('two letters', 'xy'),
  tokens('spaces', ' '),
  tokens('lines', '\n '),
  tokens('Chinese', '漢字'),
  {
    name: 'keys of a team file',
    size: 500,
    prepare: (size, folder) => {
      const file = prepareFile(
        folder,
        'a.yaml',
        range(size)
          .map((index) => `k${index}: 1\n`)
          .join(''),
      );
      return () => {
        try {
          loadTeam(file);
        } catch {
          // No such key is known.
        }
      };
    },
  },
  {
    name: 'lines of a question file',
    size: 5_000,
    prepare: (size, folder) => {
      const lines = range(size).map((index) => `{"task_id":"${index}","question":"Why?"}\n`);
      const file = prepareFile(folder, 'a.jsonl', lines.join(''));
      return () => readQuestions(file);
    },
  },
  {
    name: 'packets of a recording',
    size: 5_000,
    prepare: (size) => {
      const text = writeRecording(size);
      return () => parseRecording(text, 'it');
    },
  },
  {
    name: 'keys of a JSON text',
    size: 50_000,
    prepare: (size) => {
      const text = `{${range(size).map((index) => `"\\n${index}":${index}`)}}`;
      return () => parseJsonText(text);
    },
  },
  {
    name: 'messages of a log to import',
    size: 2_000,
    prepare: (size, folder) => {
      const lines = range(size).flatMap((id) => [
        `{"dir":"c2s","t":${2 * id},"message":{"jsonrpc":"2.0","id":${id},"method":"m"}}\n`,
        `{"dir":"s2c","t":${2 * id + 1},"message":{"jsonrpc":"2.0","id":${id},"result":{}}}\n`,
      ]);
      const file = prepareFile(folder, 'b.jsonl', lines.join(''));
      return () => importTraffic(file, null);
    },
  },
];

/** Doubles each kind of foreign input, and measures how the time for it grows. */
export function measureGrowth(): Growth[] {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-growth-'));
  try {
    return LOADS.map((load) => {
      const sizes = range(DOUBLINGS + 1).map((step) => load.size * 2 ** step);
      const ms = sizes.map((size) => measure(load.prepare(size, folder)));
      return { name: load.name, sizes, ms, ratio: (ms.at(-1) ?? 0) / (ms.at(-2) ?? 1) };
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function measure(work: () => unknown): number {
  const times = range(ROUNDS).map(() => {
    const { user } = process.cpuUsage();
    work();
    return (process.cpuUsage().user - user) / 1000;
  });
  return Math.min(...times);
}
