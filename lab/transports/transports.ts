import { randomBytes } from 'node:crypto';
import path from 'node:path';
import type { Command } from 'commander';
import { readRecording } from '../../core/recording/read-archive.ts';
import type { Recording } from '../../core/recording/recording.ts';
import { ReplayMesh } from '../../core/recording/replay-mesh.ts';
import { codeFolder, readableByAgents } from '../../core/system/package-root.ts';
import { userPath } from '../../core/system/user-paths.ts';
import { NatsServerProcess } from '../../core/transports/nats/nats-server-process.ts';
import { openTransport, type RunTransport, tcpTransport } from '../../core/transports/run-transport.ts';
import { median } from '../../evaluation/statistics/inference/quantile.ts';
import { type Comparison, compare } from '../../evaluation/statistics/paired.ts';
import { type JudgedTime, judgeTimes } from '../../evaluation/statistics/verdict.ts';
import { type MeasuredPart, pageToWrite } from '../../evaluation/terminal/docs-page.ts';
import { markdownTable } from '../../evaluation/terminal/markdown-table.ts';
import { count } from '../../evaluation/terminal/table.ts';
import { json } from '../../protocols/json.ts';
import { positiveInteger } from '../../scripts/command-line/option-values.ts';
import { inFolder, runBench } from '../measure/bench-runs.ts';
import { publish } from '../measure/publish.ts';
import { digits, interleaved, ratioText } from '../measure/rounds.ts';
import { type EchoPeer, MeasuredLink, startEchoPeer } from './echo-peer.ts';

interface TransportsOptions {
  readonly recording?: string;
  readonly natsUrl?: string;
  readonly rounds: number;
  readonly seed: number;
  readonly json?: boolean;
  readonly write?: boolean;
}

export function transports(command: Command): void {
  command
    .option('--recording <archive>', 'run_artifacts.tar.gz of a run (default: the default run, recorded now)')
    .option('--nats-url <url>', 'a server that runs already (default: one is started: nats-server)')
    .option('--rounds <n>', 'rounds of each', positiveInteger, 40)
    .option('--seed <n>', 'seed of the order and of the bootstrap', positiveInteger, 1)
    .option('--json', 'print the figures as JSON')
    .option('--write', 'write them to docs/nats.md')
    .action(run);
}

async function run(options: TransportsOptions): Promise<void> {
  const page = options.write ? pageToWrite('docs/nats.md') : undefined;
  const report = await inFolder(async (folder, signal) => {
    const server = options.natsUrl === undefined ? await NatsServerProcess.start() : undefined;
    try {
      if (options.recording === undefined) await runBench(folder, ['--quiet']);
      const { recording = path.join(folder, 'run_artifacts.tar.gz'), natsUrl = server?.url } = options;
      const nats = await openTransport({
        team: { transport: 'nats', nats_url: natsUrl, nats_subject: undefined, delivery: 'at-most-once' },
        runId: path.basename(folder),
        external: new Set(),
        environment: process.env,
      });
      try {
        return await measureTransports({
          recording: await readRecording(userPath(recording)),
          transports: { tcp: tcpTransport, nats },
          rounds: options.rounds,
          seed: options.seed,
          workspaces: path.join(folder, 'replayed'),
          signal,
        });
      } finally {
        await nats.close();
      }
    } finally {
      await server?.stop();
    }
  });
  await publish({ report, text: transportsTable(report), part: transportsPart(report) }, options.json, page);
}

interface Measuring {
  readonly recording: Recording;
  readonly transports: { readonly tcp: RunTransport; readonly nats: RunTransport };
  readonly rounds: number;
  readonly seed: number;
  /** Folder for the agents' workspaces. */
  readonly workspaces: string;
  readonly signal: AbortSignal;
}

/** One thing that was measured over both: medians, and the ratio of the two in the same rounds. */
interface TransportFigure {
  readonly what: string;
  readonly unit: string;
  readonly tcp: number;
  readonly nats: number;
  readonly time: JudgedTime;
  /** TCP against itself in the same rounds. */
  readonly null_test: Comparison;
}

interface TransportsReport {
  readonly rounds: number;
  readonly seed: number;
  readonly figures: readonly TransportFigure[];
  /** Bytes of packets in one round; the same over both. */
  readonly packet_bytes: { readonly tcp: number; readonly nats: number };
}

const TASK_TIMEOUT_MS = 60_000;
const WARM_UP_ROUNDS = 3;
const ROUND_TRIPS = 200;
const SMALL = { bytes: 512, count: 20_000 };
const LARGE = { bytes: 64 * 1024, count: 400 };

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
class LiveTransport {
  readonly #mesh: ReplayMesh;
  readonly #peer: EchoPeer;
  readonly #link: MeasuredLink;
  packetBytes = 0;

  private constructor(mesh: ReplayMesh, peer: EchoPeer) {
    this.#mesh = mesh;
    this.#peer = peer;
    this.#link = new MeasuredLink(peer.link);
  }

  static async start(name: 'tcp' | 'nats', options: Measuring): Promise<LiveTransport> {
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
      return new LiveTransport(mesh, await startEchoPeer(transport, process.env));
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
    this.#peer.stop();
    await this.#mesh.stop();
  }
}

/** Measures both in the same rounds, TCP twice in each: the noise that a difference must exceed. */
async function measureTransports(options: Measuring): Promise<TransportsReport> {
  const { rounds, seed, signal } = options;
  const tcp = await LiveTransport.start('tcp', options);
  try {
    const nats = await LiveTransport.start('nats', options);
    try {
      const samples = await interleaved(
        { tcp: () => tcp.sample(), nats: () => nats.sample(), tcpAgain: () => tcp.sample() },
        { rounds, warmUp: WARM_UP_ROUNDS, seed, signal, shownAs: 'rounds' },
      );
      const figures = TIMED.map(({ what, unit, shown }, index) => {
        const of = (name: keyof typeof samples) => samples[name].map((sample) => sample[index] ?? Number.NaN);
        const null_test = compare(of('tcp'), of('tcpAgain'), { seed });
        const [time] = judgeTimes([compare(of('tcp'), of('nats'), { seed })], null_test);
        if (time === undefined) throw new Error('one comparison has one verdict');
        return {
          what,
          unit,
          tcp: shown(median(of('tcp'))),
          nats: shown(median(of('nats'))),
          time,
          null_test,
        };
      });
      return { rounds, seed, figures, packet_bytes: { tcp: tcp.packetBytes, nats: nats.packetBytes } };
    } finally {
      await nats.stop();
    }
  } finally {
    await tcp.stop();
  }
}

/** What was measured as a Markdown table, with what it means. */
function transportsTable({ figures, packet_bytes: { tcp, nats } }: TransportsReport): string {
  const rows = figures.map((figure) => [
    figure.what,
    `${digits(figure.tcp)} ${figure.unit}`,
    `${digits(figure.nats)} ${figure.unit}`,
    `${ratioText(figure.time)} (${figure.time.verdict})`,
    ratioText(figure.null_test),
  ]);
  const head = ['', 'TCP', 'NATS', 'time, NATS : TCP', 'TCP : TCP'];
  const bytes =
    tcp === nats ? `${count(tcp)}, over both` : `${count(tcp)} over TCP, ${count(nats)} over NATS`;
  return `${markdownTable([head, ...rows])}\n\nMedians; ratios within a round, with 95 % intervals. Bytes of packets on all connections of the run: ${bytes}.`;
}

/** The measured part of `docs/nats.md`. */
function transportsPart(report: TransportsReport): MeasuredPart {
  return {
    facts: `${report.rounds} interleaved rounds`,
    body: transportsTable(report),
    limits: [
      'Loopback is not a network, and the server shared the cores with hub and agents: on machines of their own it would take less of their time, and add a way of its own.',
    ],
  };
}
