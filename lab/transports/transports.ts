import { randomBytes } from 'node:crypto';
import path from 'node:path';
import type { Command } from 'commander';
import { readRecording } from '../../core/recording/read-archive.ts';
import type { Recording } from '../../core/recording/recording.ts';
import { ReplayMesh } from '../../core/recording/replay/replay-mesh.ts';
import { codeFolder, readableByAgents } from '../../core/system/package-root.ts';
import { userPath } from '../../core/system/user-paths.ts';
import { NatsServerProcess } from '../../core/transports/nats/nats-server-process.ts';
import { openTransport, type RunTransport, tcpTransport } from '../../core/transports/run-transport.ts';
import { median } from '../../evaluation/statistics/inference/quantile.ts';
import { compareLevels, type JudgedLevels } from '../../evaluation/statistics/level-verdicts.ts';
import type { MeasuredPart } from '../../evaluation/terminal/docs-page.ts';
import { markdownTable } from '../../evaluation/terminal/markdown-table.ts';
import { count } from '../../evaluation/terminal/table.ts';
import { json } from '../../protocols/json.ts';
import { positiveInteger } from '../../scripts/command-line/option-values.ts';
import { inFolder, runBench } from '../measure/bench-runs.ts';
import { type PublishOptions, publisher } from '../measure/publish.ts';
import { digits, interleaved, ratioText } from '../measure/rounds.ts';
import { type EchoPeer, MeasuredLink, startEchoPeer } from './echo-peer.ts';

interface TransportsOptions extends PublishOptions {
  readonly recording?: string;
  readonly natsUrl?: string;
  readonly invocations: number;
  readonly rounds: number;
  readonly seed: number;
}

export function transports(command: Command): void {
  command
    .option('--recording <archive>', 'run_artifacts.tar.gz of a run (default: the default run, recorded now)')
    .option('--nats-url <url>', 'a server that runs already (default: one is started: nats-server)')
    .option('--invocations <n>', 'fresh processes of each; at least 5 for a verdict', positiveInteger, 6)
    .option('--rounds <n>', 'samples of each of them; at least 3 for a verdict', positiveInteger, 8)
    .option('--seed <n>', 'seed of the order', positiveInteger, 1)
    .option('--json', 'print the figures as JSON')
    .option('--write', 'write them to docs/nats.md')
    .action(run);
}

async function run(options: TransportsOptions): Promise<void> {
  const publish = publisher('docs/nats.md', options);
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
          invocations: options.invocations,
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
  await publish({ report, text: transportsTable(report), part: transportsPart(report) });
}

interface Measuring {
  readonly recording: Recording;
  readonly transports: { readonly tcp: RunTransport; readonly nats: RunTransport };
  readonly invocations: number;
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
  readonly time: JudgedLevels;
  /** TCP against itself, by processes of its own in the same rounds. */
  readonly null_test: JudgedLevels;
}

interface TransportsReport {
  readonly invocations: number;
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

  static async start(name: 'tcp' | 'nats', workspaces: string, options: Measuring): Promise<LiveTransport> {
    const transport = options.transports[name];
    const mesh = await ReplayMesh.start({
      recording: options.recording,
      transport,
      workspaces,
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

const ARMS = { tcp: 'tcp', nats: 'nats', tcpAgain: 'tcp' } as const;
type ArmName = keyof typeof ARMS;

/** By arm: of each invocation its rounds, each with a sample of each of {@link TIMED}. */
type Samples = Record<ArmName, number[][][]>;

/** Both by fresh processes in each invocation, side by side in its rounds, TCP twice: what it differs from itself is no difference. */
async function measureTransports(options: Measuring): Promise<TransportsReport> {
  const { invocations, rounds, seed } = options;
  const samples: Samples = { tcp: [], nats: [], tcpAgain: [] };
  const packetBytes = { tcp: 0, nats: 0 };
  for (let invocation = 0; invocation < invocations; invocation++) {
    const live = await startArms(options, invocation);
    try {
      const own = await interleaved(
        {
          tcp: () => live.tcp.sample(),
          nats: () => live.nats.sample(),
          tcpAgain: () => live.tcpAgain.sample(),
        },
        {
          ...{ rounds, warmUp: WARM_UP_ROUNDS, seed: seed + invocation, signal: options.signal },
          shownAs: `rounds of invocation ${invocation + 1} of ${invocations}`,
        },
      );
      for (const name of ['tcp', 'nats', 'tcpAgain'] as const) samples[name].push(own[name]);
      packetBytes.tcp = live.tcp.packetBytes;
      packetBytes.nats = live.nats.packetBytes;
    } finally {
      await Promise.all(Object.values(live).map((one) => one.stop()));
    }
  }
  const figures = TIMED.map(({ what, unit, shown }, index) => {
    const of = (name: ArmName) =>
      samples[name].map((own) => own.map((sample) => sample[index] ?? Number.NaN));
    return {
      what,
      unit,
      tcp: shown(median(of('tcp').flat())),
      nats: shown(median(of('nats').flat())),
      time: compareLevels(of('tcp'), of('nats')),
      null_test: compareLevels(of('tcp'), of('tcpAgain')),
    };
  });
  return { invocations, rounds, seed, figures, packet_bytes: packetBytes };
}

/** All of them, or none is left running. */
async function startArms(options: Measuring, invocation: number): Promise<Record<ArmName, LiveTransport>> {
  const up: LiveTransport[] = [];
  const start = async (name: ArmName) => {
    const workspaces = path.join(options.workspaces, `${name}-${invocation}`);
    const arm = await LiveTransport.start(ARMS[name], workspaces, options);
    up.push(arm);
    return arm;
  };
  try {
    return { tcp: await start('tcp'), nats: await start('nats'), tcpAgain: await start('tcpAgain') };
  } catch (error) {
    await Promise.all(up.map((arm) => arm.stop()));
    throw error;
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
  return `${markdownTable([head, ...rows])}\n\nMedians; ratios of fresh processes, with 95 % intervals. Bytes of packets on all connections of the run: ${bytes}.`;
}

/** The measured part of `docs/nats.md`. */
function transportsPart(report: TransportsReport): MeasuredPart {
  return {
    facts: `${report.invocations} invocations of each in fresh processes, ${report.rounds} interleaved rounds in each`,
    body: transportsTable(report),
    limits: [
      'Loopback is not a network, and the server shared the cores with hub and agents: on machines of their own it would take less of their time, and add a way of its own.',
    ],
  };
}
