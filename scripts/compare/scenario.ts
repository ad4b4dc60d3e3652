import { spawn } from 'node:child_process';
import path from 'node:path';
import { codeFolder } from '../../config/package-root.ts';
import { userPath } from '../../config/user-paths.ts';
import { MeshError } from '../../core/errors.ts';
import { INTERRUPTED_EXIT } from '../exit-code.ts';
import { listOf } from '../option-values.ts';

/** A run whose packets are compared: its archive, and how many agents hear them. */
export interface Scenario {
  readonly archive: string;
  /** More agents than were recorded, which hear everything and say nothing; undefined for those that were. */
  readonly agents: number | undefined;
}

export interface ScenarioOptions {
  readonly recording?: string;
  readonly teams?: string;
  readonly engines?: string;
  readonly agents?: string;
}

/** Far more processes than two cores can serve; a typing error must not start thousands. */
const MAX_AGENTS = 256;

/**
 * Every combination of the teams, engines and numbers of agents that the user named. Runs that are not given as an archive are made
 * now, below `folder`.
 *
 * @throws MeshError `usage` for options that do not go together, `agent` when a run fails
 */
export async function scenariosOf(options: ScenarioOptions, folder: string): Promise<readonly Scenario[]> {
  const counts = agentCounts(options.agents);
  const archives: string[] = [];
  if (options.recording !== undefined) {
    if (options.teams !== undefined || options.engines !== undefined) {
      throw new MeshError(
        'usage',
        '--recording is a run that was made: it goes with neither --teams nor --engines',
      );
    }
    archives.push(userPath(options.recording));
  } else {
    for (const team of namedOrOwn(options.teams)) {
      for (const engine of namedOrOwn(options.engines)) {
        archives.push(await recordRun(path.join(folder, `recorded-${archives.length}`), team, engine));
      }
    }
  }
  return archives.flatMap((archive) => counts.map((agents) => ({ archive, agents })));
}

/** Undefined stands for what `bench` takes by itself. */
function namedOrOwn(text: string | undefined): readonly (string | undefined)[] {
  const names = listOf(text);
  return names.length > 0 ? names : [undefined];
}

function agentCounts(text: string | undefined): readonly (number | undefined)[] {
  const counts = listOf(text).map((item) => {
    const count = Number(item);
    if (!Number.isInteger(count) || count < 1 || count > MAX_AGENTS) {
      throw new MeshError(
        'usage',
        `--agents: expected numbers from 1 to ${MAX_AGENTS}, e.g. 4,16,64, not "${item}"`,
      );
    }
    return count;
  });
  return counts.length > 0 ? counts : [undefined];
}

/** Runs a team on the default task and returns the archive. */
async function recordRun(out: string, team: string | undefined, engine: string | undefined): Promise<string> {
  const entry = path.join(codeFolder, 'scripts', 'gaia-mesh.js');
  const options = [
    ...(team === undefined ? [] : ['--team', team]),
    ...(engine === undefined ? [] : ['--engine', engine]),
  ];
  console.error(`recording a run${options.length > 0 ? ` (${options.join(' ')})` : ''} …`);
  const args = ['bench', '--quiet', '--port-base', 'auto', '--out', out, ...options];
  const child = spawn(process.execPath, [entry, ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
  const code = await new Promise((resolve) => child.on('close', resolve));
  if (code === INTERRUPTED_EXIT) throw new MeshError('interrupted', 'interrupted');
  if (code !== 0) throw new MeshError('agent', `the run to record ended with exit code ${code}`);
  return path.join(out, 'run_artifacts.tar.gz');
}
