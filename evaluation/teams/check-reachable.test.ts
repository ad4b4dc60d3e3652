import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import { expect, test } from 'vitest';
import { loadTeams } from '../plan/team-options.ts';
import { listTeamFiles } from './load-team.ts';

/** Loads a team from a file of its own, with agents that somebody else starts. */
async function load(agents: readonly object[], external: ReadonlySet<string> = new Set()) {
  const file = path.join(temporaryFolder(), 'mine.yaml');
  writeFileSync(file, JSON.stringify({ version: 1, name: 'mine', final: 'end', agents }));
  return loadTeams([file], {}, external);
}
const end = { id: 'end', tool: 'reason' };

test.each([...listTeamFiles()])('the team %s that ships can answer', async (_, file) => {
  await expect(loadTeams([file], {})).resolves.toHaveLength(1);
});

test('a team with a gap is refused, and the gap is named', async () => {
  const agents = [{ id: 'a', tool: 'search' }, { id: 'c', tool: 'triple' }, end];
  await expect(load(agents)).rejects.toMatchObject({
    code: 'config',
    message: expect.stringContaining(
      'no answer can come from its final agent end: agent c (triple) waits for events, which no agent before it emits',
    ),
  });
});

test('what an agent subscribes to in the team file is what counts', async () => {
  const works = [{ ...end, subscribes: ['doc_init'] }];
  await expect(load(works)).resolves.toHaveLength(1);
  const waits = [
    { id: 'a', tool: 'search', subscribes: ['news'] },
    { id: 'b', tool: 'extract' },
    { id: 'c', tool: 'triple' },
    end,
  ];
  await expect(load(waits)).rejects.toThrow('agent a (search) waits for news,');
});

test('an agent that somebody else starts may hear and send anything', async () => {
  const agents = [{ id: 'a', tool: 'search' }, end];
  await expect(load(agents, new Set(['a']))).resolves.toHaveLength(1);
});
