import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { codeFolder, packageVersion, readableByAgents } from '../../config/package-root.ts';
import type { ProtocolAdapter } from '../../core/adapter.ts';
import { compareAdapters } from '../../core/recording/compare-adapters.ts';
import { promptTokens } from '../../core/recording/prompt-tokens.ts';
import type { Recording } from '../../core/recording/recording.ts';
import { ReplayMesh } from '../../core/recording/replay-mesh.ts';
import { environmentOf } from '../../core/run/manifest.ts';
import { Random } from '../../core/statistics/random.ts';
import { fewestRounds } from '../../core/statistics/stopping.ts';
import type { ChosenAdapters } from '../own-adapter.ts';
import type { ComparisonReport, Row } from './comparison-report.ts';
import { conclusionOf } from './sentence.ts';

export interface MeasureOptions {
  /** The first is the baseline. */
  readonly adapters: readonly [ProtocolAdapter, ...ProtocolAdapter[]];
  readonly chosen: Pick<ChosenAdapters, 'agentArguments' | 'readable'>;
  /** Agents in all, if more than were recorded. */
  readonly agents: number | undefined;
  readonly budgetMs: number;
  readonly maxRounds: number;
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
export async function measure(recording: Recording, options: MeasureOptions): Promise<ComparisonReport> {
  const { adapters, chosen, agents, seed } = options;
  const mesh = await ReplayMesh.start({
    recording,
    toolTime: 0,
    workspaces: options.workspaces,
    timeoutMs: TASK_TIMEOUT_MS,
    entry: path.join(codeFolder, 'scripts', 'gaia-mesh.js'),
    readable: [...readableByAgents(), ...chosen.readable],
    agentArguments: chosen.agentArguments,
    environment: process.env,
    secret: randomBytes(32).toString('hex'),
    signal: options.signal,
    ...(agents === undefined ? {} : { agents }),
  });
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
    onRound: ({ rounds, elapsedMs }) => {
      if (rounds % 10 === 0) console.error(`${rounds} rounds, ${(elapsedMs / 1000).toFixed(0)} s`);
    },
  }).finally(() => mesh.stop());
  const rows: Row[] = [];
  for (const [index, figures] of comparison.adapters.entries()) {
    const adapter = adapters[index];
    const tokens = adapter === undefined ? null : await promptTokens(recording, adapter);
    rows.push({ ...figures, prompt_tokens: tokens });
  }
  return {
    schema_version: 1,
    run_id: recording.header.run_id,
    team: recording.header.team,
    engine: recording.header.engine,
    agents: agents ?? recording.header.agents.length,
    tasks: recording.packets.filter(({ cause }) => cause === null).length,
    packets: recording.packets.length,
    seed,
    environment: environmentOf(packageVersion),
    ...comparison,
    adapters: rows,
    ...conclusionOf(comparison, recording),
  };
}
