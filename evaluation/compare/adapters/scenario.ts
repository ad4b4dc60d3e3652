import { spawn } from 'node:child_process';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { awaitChildEnd } from '@gaia-mesh/core/system/process/child-end.ts';
import { guard } from '@gaia-mesh/core/system/process/guard.ts';
import { printError } from '../../terminal/print.ts';

/** The recording that is compared by default: traffic of several kinds; see `lab/traffic/`. */
export const defaultRecording = path.join(codeFolder, 'config', 'recordings', 'default.jsonl.gz');

/** A run whose packets are compared: its archive or recording, and the number of agents that receive them. */
interface Scenario {
  readonly archive: string;
  /**
   * Total number of agents, if more than were recorded; the additional ones receive everything and send nothing. Undefined for the recorded
   * ones.
   */
  readonly agents: number | undefined;
}

/** The user's choice of traffic; without a recording or a run, it is {@link defaultRecording}. */
interface ScenarioChoice {
  /** An existing recording; it excludes a choice of teams and engines. */
  readonly recording: string | undefined;
  readonly teams: readonly string[];
  readonly engines: readonly string[];
  /** The user's tools for all runs, as `bench` takes them. */
  readonly tools?: readonly string[];
  /** Numbers of agents. */
  readonly agents: readonly number[];
}

/**
 * Lists all combinations of the chosen teams, engines and numbers of agents. It records the runs that are not given as an archive in
 * `folder`.
 *
 * @throws MeshError `agent` if a run fails
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
  const { code, error } = await awaitChildEnd(child);
  release();
  // The terminal also interrupts the child, which shuts down in order.
  signal.throwIfAborted();
  if (error !== undefined) throw error;
  if (code !== 0) throw new MeshError('agent', `the run to record ended with exit code ${code}`);
  return path.join(out, 'run_artifacts.tar.gz');
}
