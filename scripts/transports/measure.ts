import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { codeFolder, readableByAgents } from '../../config/package-root.ts';
import type { Recording } from '../../core/recording/recording.ts';
import { ReplayMesh } from '../../core/recording/replay-mesh.ts';
import type { RunTransport } from '../../core/run/run-transport.ts';
import { type Comparison, compare } from '../../core/statistics/paired.ts';
import { median } from '../../core/statistics/quantile.ts';
import { Random } from '../../core/statistics/random.ts';
import { roundOf } from '../../core/statistics/schedule.ts';
import { type JudgedTime, judgeTimes } from '../../core/statistics/verdict.ts';
import { json } from '../../protocols/json.ts';
import { type FarEnd, startFarEnd } from './far-end.ts';
import { MeasuredLink } from './link-figures.ts';

export interface MeasureOptions {
  readonly recording: Recording;
  readonly transports: { readonly tcp: RunTransport; readonly nats: RunTransport };
  readonly rounds: number;
  readonly seed: number;
  /** Folder for the agents' workspaces. */
  readonly workspaces: string;
  readonly signal: AbortSignal;
}

/** One thing that was measured over both: medians, and the ratio of the two in the same rounds. */
export interface Figure {
  readonly what: string;
  readonly unit: string;
  readonly tcp: number;
  readonly nats: number;
  readonly time: JudgedTime;
  /** TCP against itself in the same rounds. */
  readonly null_test: Comparison;
}

export interface TransportFigures {
  readonly rounds: number;
  readonly seed: number;
  readonly figures: readonly Figure[];
  /** Bytes of packets and of all handshakes and books in one round; those of packets are the same over both. */
  readonly packet_bytes: { readonly tcp: number; readonly nats: number };
}

const TASK_TIMEOUT_MS = 60_000;
const WARM_UP_ROUNDS = 3;
const ROUND_TRIPS = 200;
const SMALL = { bytes: 512, count: 20_000 };
const LARGE = { bytes: 64 * 1024, count: 400 };

type Name = 'tcp' | 'nats';

/** What is timed, with what makes a reader's figure of a sample. */
const TIMED = [
  { what: 'the recorded run, in the mesh', unit: 'ms', shown: (ms: number) => ms },
  { what: 'a frame of 512 B there and back, one on its way', unit: 'µs', shown: (us: number) => us },
  { what: 'frames of 512 B one way', unit: 'frames/s', shown: (ms: number) => (SMALL.count / ms) * 1000 },
  {
    what: 'frames of 64 KiB one way',
    unit: 'MB/s',
    shown: (ms: number) => (LARGE.count * LARGE.bytes) / 1000 / ms,
  },
];

/** One transport with everything alive that is measured over it. */
class Arm {
  readonly #mesh: ReplayMesh;
  readonly #end: FarEnd;
  readonly #link: MeasuredLink;
  packetBytes = 0;

  private constructor(mesh: ReplayMesh, end: FarEnd) {
    this.#mesh = mesh;
    this.#end = end;
    this.#link = new MeasuredLink(end.link);
  }

  static async start(name: Name, options: MeasureOptions): Promise<Arm> {
    const transport = options.transports[name];
    const mesh = await ReplayMesh.start({
      recording: options.recording,
      transport,
      toolTime: 0,
      workspaces: path.join(options.workspaces, name),
      timeoutMs: TASK_TIMEOUT_MS,
      entry: path.join(codeFolder, 'scripts', 'gaia-mesh.js'),
      readable: readableByAgents(),
      environment: process.env,
      secret: randomBytes(32).toString('hex'),
      signal: options.signal,
    });
    try {
      return new Arm(mesh, await startFarEnd(transport, process.env));
    } catch (error) {
      await mesh.stop();
      throw error;
    }
  }

  /** A sample of each of {@link TIMED}. */
  async sample(): Promise<number[]> {
    const { elapsedMs, ledger } = await this.#mesh.play(json);
    this.packetBytes = ledger.written.packets + ledger.read.packets;
    return [
      elapsedMs,
      await this.#link.roundTripUs(SMALL.bytes, ROUND_TRIPS),
      await this.#link.oneWayMs(SMALL.bytes, SMALL.count),
      await this.#link.oneWayMs(LARGE.bytes, LARGE.count),
    ];
  }

  async stop(): Promise<void> {
    this.#end.stop();
    await this.#mesh.stop();
  }
}

/** Measures both in interleaved rounds, TCP twice in each: the noise that a difference must exceed. */
export async function measureTransports(options: MeasureOptions): Promise<TransportFigures> {
  const { rounds, seed, signal } = options;
  const random = new Random(seed);
  const samples: Record<Name | 'null', number[][]> = { tcp: [], nats: [], null: [] };
  const arms = { tcp: await Arm.start('tcp', options) };
  try {
    const nats = await Arm.start('nats', options);
    try {
      const both = { ...arms, nats };
      for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
        for (const { arm, isNull } of roundOf(['tcp', 'nats'], 'tcp', random)) {
          signal.throwIfAborted();
          const sample = await (arm === 'nats' ? both.nats : both.tcp).sample();
          if (round >= 0) samples[isNull ? 'null' : arm === 'nats' ? 'nats' : 'tcp'].push(sample);
        }
        if (round > 0 && round % 10 === 0) console.error(`${round} rounds`);
      }
      return {
        rounds,
        seed,
        figures: figuresOf(samples, seed),
        packet_bytes: { tcp: both.tcp.packetBytes, nats: both.nats.packetBytes },
      };
    } finally {
      await nats.stop();
    }
  } finally {
    await arms.tcp.stop();
  }
}

function figuresOf(samples: Readonly<Record<Name | 'null', readonly number[][]>>, seed: number): Figure[] {
  return TIMED.map(({ what, unit, shown }, index) => {
    const of = (name: Name | 'null') => samples[name].map((sample) => sample[index] ?? Number.NaN);
    const nullTest = compare(of('tcp'), of('null'), { seed });
    const [time] = judgeTimes([compare(of('tcp'), of('nats'), { seed })], nullTest);
    if (time === undefined) throw new Error('one comparison has one verdict');
    const [tcp, nats] = [shown(median(of('tcp'))), shown(median(of('nats')))];
    return { what, unit, tcp, nats, time, null_test: nullTest };
  });
}
