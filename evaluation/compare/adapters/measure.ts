import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import path from 'node:path';
import type { ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import type { Recording } from '@gaia-mesh/core/recording/recording.ts';
import { ReplayMesh } from '@gaia-mesh/core/recording/replay/replay-mesh.ts';
import { codeFolder, listReadablePaths } from '@gaia-mesh/core/system/package-root.ts';
import { listUserFiles, listUserReads } from '../../teams/user-files.ts';
import { type AdaptersComparison, parseAdapters } from '../comparison-file.ts';
import type { Design, ExperimentOptions } from '../experiment.ts';
import { describeRecording } from '../judged-arms.ts';
import { formatVerdicts } from '../verdict-text.ts';
import type { PlayedInvocation, PlayedMesh } from './adapter-arms.ts';
import { compareAdapters } from './compare-adapters.ts';

interface MeasureOptions
  extends Pick<
    ExperimentOptions<PlayedInvocation>,
    'random' | 'onProgress' | 'onMeasured' | 'onBlock' | 'onNote' | 'signal'
  > {
  /** The first is the baseline. */
  readonly adapters: readonly [ProtocolAdapter, ...ProtocolAdapter[]];
  /** Total number of agents, if more than were recorded. */
  readonly agents: number | undefined;
  readonly design: Design;
  /** Ratios within 1 / (1 + margin) to 1 + margin count as equal. */
  readonly margin: number;
  /** Maximum number of agents in the recording. */
  readonly maxAgents?: number;
  readonly seed: number;
  /** Folder for the agents' workspaces. */
  readonly workspaces: string;
}

const TASK_TIMEOUT_MS = 60_000;

/** Plays a recording through all adapters, in fresh processes for each invocation. */
export async function measure(recording: Recording, options: MeasureOptions): Promise<AdaptersComparison> {
  const { agents, seed } = options;
  let started = 0;
  const start = async (signal: AbortSignal): Promise<PlayedMesh> => {
    started += 1;
    const workspaces = path.join(options.workspaces, String(started));
    const mesh = await ReplayMesh.start({
      recording,
      workspaces,
      timeoutMs: TASK_TIMEOUT_MS,
      signal,
      entry: path.join(codeFolder, 'scripts', 'gaia-mesh.js'),
      readable: listReadablePaths(),
      userAdapters: { files: listUserFiles(), reads: listUserReads(listUserFiles()) },
      environment: process.env,
      secret: randomBytes(32).toString('hex'),
      ...(agents === undefined ? {} : { agents }),
      maxAgents: options.maxAgents,
    });
    return {
      play: (adapter, passes) => mesh.play(adapter, passes),
      stop: async () => {
        await mesh.stop();
        // The logs of many passes have no readers.
        rmSync(workspaces, { recursive: true, force: true });
      },
    };
  };
  const comparison = await compareAdapters({
    ...options,
    start,
    packets: recording.packets.length,
    processes: agents ?? recording.header.agents.length,
  });
  const { packets } = recording;
  const recorded = describeRecording(recording);
  const run = { ...recorded, agents: agents ?? recorded.agents };
  const toolUs = packets.reduce((sum, packet) => sum + (packet.toolUs ?? 0), 0);
  const [baseline] = comparison.arms;
  const { tasks } = run;
  const report = {
    kind: 'adapters',
    sentence: null,
    ...run,
    packets: packets.length,
    task_ms: (toolUs + (baseline?.latency_us?.p50 ?? 0)) / 1000 / tasks,
    seed,
    ...comparison,
    left_out: [],
    matrix: comparison.arms.map(({ name, bytes_on_wire, latency_us, vs_baseline }) => ({
      ...run,
      adapter: name,
      bytes_per_task: bytes_on_wire / tasks,
      ms_per_task: (latency_us?.p50 ?? 0) / 1000 / tasks,
      time_ratio: vs_baseline?.time?.ratio ?? 1,
      time_verdict: vs_baseline?.time?.verdict ?? 'baseline',
    })),
  };
  // The report is parsed as it is when read back from its file, so that all outputs agree.
  const file = parseAdapters(JSON.stringify(report), 'comparison');
  return { ...file, sentence: formatVerdicts(file) };
}
