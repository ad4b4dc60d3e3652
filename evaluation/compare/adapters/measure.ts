import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import path from 'node:path';
import type { Recording } from '@gaia-mesh/core/recording/recording.ts';
import { ReplayMesh } from '@gaia-mesh/core/recording/replay/replay-mesh.ts';
import { codeFolder, listReadablePaths } from '@gaia-mesh/core/system/package-root.ts';
import { listUserFiles, listUserReads } from '../../teams/user-files.ts';
import { type AdaptersComparison, parseAdapters } from '../comparison-file.ts';
import { describeRecording } from '../recording.ts';
import { formatVerdicts } from '../verdict-text.ts';
import type { PlayedMesh } from './adapter-arms.ts';
import { type CompareOptions, compareAdapters } from './compare-adapters.ts';

interface MeasureOptions extends Omit<CompareOptions, 'start' | 'packets'> {
  /** Maximum number of agents in the recording. */
  readonly maxAgents: number;
  readonly seed: number;
  /** The command line that repeats the measurement. */
  readonly command: string;
  /** Folder for the agents' workspaces. */
  readonly workspaces: string;
}

const TASK_TIMEOUT_MS = 60_000;

/** Plays a recording through all arms, in fresh processes for each invocation. */
export async function measure(recording: Recording, options: MeasureOptions): Promise<AdaptersComparison> {
  const { arms, seed, command, maxAgents } = options;
  const { packets } = recording;
  let started = 0;
  const start = async (agents: number, signal: AbortSignal): Promise<PlayedMesh> => {
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
      agents,
      maxAgents,
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
  const comparison = await compareAdapters({ ...options, start, packets: packets.length });
  const run = { ...describeRecording(recording), agents: arms[0].agents };
  const toolUs = packets.reduce((sum, packet) => sum + (packet.toolUs ?? 0), 0);
  const [baseline] = comparison.arms;
  const report = {
    kind: 'adapters',
    sentence: null,
    command,
    ...run,
    packets: packets.length,
    task_ms: (toolUs + (baseline?.latency_us?.p50 ?? 0)) / 1000 / run.tasks,
    seed,
    ...comparison,
    left_out: [],
  };
  // The report is parsed as it is when read back from its file, so that all outputs agree.
  const file = parseAdapters(JSON.stringify(report), 'comparison');
  return { ...file, sentence: formatVerdicts(file) };
}
