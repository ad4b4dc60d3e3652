import { teamSchema } from '@gaia-mesh/core/contracts/team.ts';
import { expect, test } from 'vitest';
import { loadTeam } from '../teams/load-team.ts';
import { fingerprintTeam } from './fingerprint.ts';

test('a team has one fingerprint, in whatever order the command line and the database have its keys', async () => {
  const team = { ...loadTeam('single'), engine: 'ollama', model: 'm', engine_options: { seed: 1 } };
  const stored = teamSchema.parse(JSON.parse(JSON.stringify(team)));
  expect(Object.keys(stored)).not.toEqual(Object.keys(team));
  expect(await fingerprintTeam(stored)).toEqual(await fingerprintTeam(team));
  expect(await fingerprintTeam({ ...team, model: 'n' })).not.toEqual(await fingerprintTeam(team));
});
