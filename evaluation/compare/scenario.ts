import { spawn } from 'node:child_process';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { guard } from '@gaia-mesh/core/system/process/guard.ts';
import { printError } from '../terminal/print.ts';

/** What is compared where nothing else is asked for: traffic of several kinds; see `lab/traffic/`. */
export const defaultRecording = path.join(codeFolder, 'config', 'recordings', 'default.jsonl.gz');

/** A run whose packets are compared: its archive or recording, and how many agents hear them. */
export interface Scenario {
  readonly archive: string;
  /** More agents than were recorded, which hear everything and say nothing; undefined for those that were. */
  readonly agents: number | undefined;
}

/** What to compare on; where neither a recording nor a run is asked for, {@link defaultRecording}. */
export interface ScenarioChoice {
  /** A recording that was made; then there is no choice of teams and engines. */
  readonly recording: string | undefined;
  readonly teams: readonly string[];
  readonly engines: readonly string[];
  /** Tools of the user's for all of them, as `bench` takes them. */
  readonly tools?: readonly string[];
  /** Numbers of agents. */
  readonly agents: readonly number[];
}

/**
 * Every combination of the teams, engines and numbers of agents that were chosen. Runs that are not given as an archive are made
 * now, below `folder`.
 *
 * @throws MeshError `agent` when a run fails
 */
export async function listScenarios(
  { recording, teams, engines, tools = [], agents }: ScenarioChoice,
  folder: string,
  signal: AbortSignal,
): Promise<readonly Scenario[]> {
  const isRun = [teams, engines, tools].some(({ length }) => length > 0);
  const archives: string[] = [];
  if (recording !== undefined || !isRun) archives.push(recording ?? defaultRecording);
  else {
    for (const team of listOrDefault(teams)) {
      for (const engine of listOrDefault(engines)) {
        const out = path.join(folder, `recorded-${archives.length}`);
        const options = [
          ...(team === undefined ? [] : ['--team', team]),
          ...(engine === undefined ? [] : ['--engine', engine]),
          ...tools.flatMap((tool) => ['--tool', tool]),
        ];
        archives.push(await recordRun(out, options, signal));
      }
    }
  }
  return archives.flatMap((archive) => listOrDefault(agents).map((count) => ({ archive, agents: count })));
}

function listOrDefault<T>(chosen: readonly T[]): readonly (T | undefined)[] {
  return chosen.length > 0 ? chosen : [undefined];
}

/** Runs `bench` and returns the archive. */
async function recordRun(out: string, options: readonly string[], signal: AbortSignal): Promise<string> {
  const name = options.join(' ');
  const entry = path.join(codeFolder, 'scripts', 'gaia-mesh.js');
  printError(`recording a run${name === '' ? '' : ` (${name})`} …`);
  const args = ['bench', '--quiet', '--port-base', 'auto', '--out', out, ...options];
  const child = spawn(process.execPath, [entry, ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
  const release = guard({ pid: child.pid });
  const code = await new Promise((resolve) => child.on('close', resolve));
  release();
  // The terminal interrupts the child as well, which ends in order.
  signal.throwIfAborted();
  if (code !== 0) throw new MeshError('agent', `the run to record ended with exit code ${code}`);
  return path.join(out, 'run_artifacts.tar.gz');
}
