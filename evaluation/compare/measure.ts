import { randomBytes } from 'node:crypto';
import path from 'node:path';
import type { ProtocolAdapter } from '../../core/contracts/adapter.ts';
import { promptTokens } from '../../core/recording/prompt-tokens.ts';
import type { Recording } from '../../core/recording/recording.ts';
import { ReplayMesh } from '../../core/recording/replay-mesh.ts';
import { environmentOf } from '../../core/run/manifest.ts';
import { codeFolder, packageVersion, readableByAgents } from '../../core/system/package-root.ts';
import { Random } from '../../core/system/random.ts';
import { fewestRounds } from '../statistics/stopping.ts';
import { filesFor, readsOf } from '../teams/user-files.ts';
import { ProgressBar } from '../terminal/progress-bar.ts';
import { oneLine } from '../terminal/table.ts';
import { compareAdapters } from './compare-adapters.ts';
import { type ComparisonFile, parseComparison } from './comparison-file.ts';
import { sentenceOf } from './verdict-text.ts';

interface MeasureOptions {
  /** The first is the baseline. */
  readonly adapters: readonly [ProtocolAdapter, ...ProtocolAdapter[]];
  /** Agents in all, if more than were recorded. */
  readonly agents: number | undefined;
  readonly budgetMs: number;
  readonly maxRounds: number;
  /** Most agents that the recording may have. */
  readonly maxAgents?: number;
  readonly seed: number;
  /** Folder for the agents' workspaces. */
  readonly workspaces: string;
  readonly signal: AbortSignal;
}

/** Intervals narrower than this on each side are narrow enough. */
const HALF_WIDTH = 0.02;
const MIN_ROUNDS = 12;
const TASK_TIMEOUT_MS = 60_000;

/** Plays a recording through all adapters until the figures are narrow or the budget ends. */
export async function measure(recording: Recording, options: MeasureOptions): Promise<ComparisonFile> {
  const { adapters, agents, seed } = options;
  const mesh = await ReplayMesh.start({
    recording,
    toolTime: 0,
    workspaces: options.workspaces,
    timeoutMs: TASK_TIMEOUT_MS,
    entry: path.join(codeFolder, 'scripts', 'gaia-mesh.js'),
    readable: readableByAgents(),
    userAdapters: { files: filesFor(), reads: readsOf(filesFor()) },
    environment: process.env,
    secret: randomBytes(32).toString('hex'),
    signal: options.signal,
    ...(agents === undefined ? {} : { agents }),
    maxAgents: options.maxAgents,
  });
  const bar = await ProgressBar.start(100, '% of the time');
  const comparison = await compareAdapters({
    mesh,
    adapters,
    rule: {
      relativeHalfWidth: HALF_WIDTH,
      minRounds: Math.max(MIN_ROUNDS, fewestRounds(adapters.length - 1)),
      maxRounds: options.maxRounds,
      budgetMs: options.budgetMs,
    },
    random: new Random(seed),
    bootstrapSeed: seed,
    onLost: (why) => bar.note(`a round was lost: ${oneLine(why, 200)}`),
    onRound: ({ rounds, elapsedMs }) => {
      const share = Math.max(rounds / options.maxRounds, elapsedMs / options.budgetMs);
      bar.at(100 * share, `${rounds} rounds`);
    },
    signal: options.signal,
  }).finally(() => {
    bar.end();
    return mesh.stop();
  });
  const tokens = await Promise.all(adapters.map((adapter) => promptTokens(recording, adapter)));
  const { header, packets } = recording;
  const tasks = packets.filter(({ cause }) => cause === null).length;
  const toolUs = packets.reduce((sum, packet) => sum + (packet.toolUs ?? 0), 0);
  const run = { team: header.team, engine: header.engine, agents: agents ?? header.agents.length };
  const figures = comparison.adapters.map((row, index) => ({ ...row, prompt_tokens: tokens[index] ?? null }));
  const report = {
    schema_version: 1,
    sentence: sentenceOf(comparison.baseline, comparison.adapters),
    run_id: header.run_id,
    ...run,
    tasks,
    packets: packets.length,
    task_ms: (toolUs + (figures[0]?.latency_us.median ?? 0)) / 1000 / tasks,
    seed,
    environment: environmentOf(packageVersion),
    ...comparison,
    adapters: figures,
    matrix: figures.map(({ adapter, bytes_on_wire, latency_us, vs_baseline }) => ({
      ...run,
      adapter,
      bytes_per_task: bytes_on_wire / tasks,
      ms_per_task: latency_us.median / 1000 / tasks,
      time_ratio: vs_baseline?.time.ratio ?? 1,
      time_verdict: vs_baseline?.time.verdict ?? 'baseline',
    })),
  };
  // As it is read back from its file, so that every output says the same.
  return parseComparison(JSON.stringify(report), 'comparison');
}
