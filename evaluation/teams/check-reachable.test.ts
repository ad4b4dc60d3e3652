import { type Team, teamSchema } from '@gaia-mesh/core/contracts/team.ts';
import { expect, test } from 'vitest';
import { checkReachable } from '../plan/team-options.ts';
import { listTeamFiles, loadTeam } from './load-team.ts';

function team(agents: readonly object[]): Team {
  return teamSchema.parse({ version: 1, name: 'mine', final: 'end', agents });
}
const end = { id: 'end', tool: 'reason' };

test.each([...listTeamFiles().keys()])('the team %s that ships can answer', async (name) => {
  await expect(checkReachable(loadTeam(name))).resolves.toBeUndefined();
});

test('a team with a gap is refused, and the gap is named', async () => {
  const agents = [{ id: 'a', tool: 'search' }, { id: 'c', tool: 'triple' }, end];
  await expect(checkReachable(team(agents))).rejects.toMatchObject({
    code: 'config',
    message: expect.stringContaining(
      'no answer can come from its final agent end: agent c (triple) waits for events, which no agent before it emits',
    ),
  });
});

test('what an agent subscribes to in the team file is what counts', async () => {
  const works = [{ ...end, subscribes: ['doc_init'] }];
  await expect(checkReachable(team(works))).resolves.toBeUndefined();
  const waits = [
    { id: 'a', tool: 'search', subscribes: ['news'] },
    { id: 'b', tool: 'extract' },
    { id: 'c', tool: 'triple' },
    end,
  ];
  await expect(checkReachable(team(waits))).rejects.toThrow('agent a (search) waits for news,');
});

test('an agent that somebody else starts may hear and send anything', async () => {
  const agents = [{ id: 'a', tool: 'search' }, end];
  await expect(checkReachable(team(agents), new Set(['a']))).resolves.toBeUndefined();
});
