import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import { expect, test } from 'vitest';
import type { TeamOptions } from './options.ts';
import { loadTeams, planTeam } from './team-options.ts';

async function planConcurrency(name: string, options: TeamOptions): Promise<number[]> {
  const teams = await loadTeams([name], options);
  const planned = await Promise.all(teams.map((team) => planTeam(team, options, temporaryFolder())));
  return planned.map(({ concurrency }) => concurrency);
}

test.each<[string, TeamOptions, number]>([
  ['pipeline', {}, 4],
  ['pipeline', { engine: 'ollama' }, 4],
  ['overseer', {}, 1],
  ['panel', { engine: 'ollama' }, 1],
  ['panel', { concurrency: 3 }, 3],
])('team %s with %o has %i questions on their way', async (name, options, expected) => {
  expect(await planConcurrency(name, options)).toEqual([expected]);
});
