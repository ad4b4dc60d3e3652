import { teamSchema } from '@gaia-mesh/core/contracts/team.ts';
import { expect, test } from 'vitest';
import { loadTeam } from '../teams/load-team.ts';
import { listLocalParts, queuedPlanSchema } from './queued-plan.ts';

const agent = (more: object) => ({ agents: [{ id: 'a', tool: 'answer', ...more }], final: 'a' });

test.each([
  ['a prompt', agent({ prompt: '/home/me/.ssh/id_rsa' }), '/home/me/.ssh/id_rsa'],
  ['a tool in a file', agent({ tool: './mine.ts' }), './mine.ts'],
  ['a command', agent({ tool: 'mcp', options: { command: 'sh' } }), 'command of agent a'],
  ['variables for a command', agent({ tool: 'mcp', options: { env: ['KEY'] } }), 'env of agent a'],
  [
    'a variable for a server',
    agent({ tool: 'a2a', options: { url: 'http://x', token: 'KEY' } }),
    'token of agent a',
  ],
  ['weights of the team', { engine_options: { weights: '/etc/passwd' } }, '/etc/passwd'],
  ['weights of one agent', agent({ engine_options: { weights: '/etc/passwd' } }), '/etc/passwd'],
  ['replies of one agent', agent({ engine_options: { replies: '/etc/passwd' } }), '/etc/passwd'],
])('a team with %s names a part of the worker’s machine', (_what, change, expected) => {
  const team = teamSchema.parse({ ...loadTeam('single'), ...change });
  expect(listLocalParts(team)).toEqual([expected]);
});

test.each([
  ['note.txt', true],
  ['../note.txt', false],
  ['/etc/passwd', false],
  ['..\\note.txt', false],
  ['', false],
])('the file of a question may be named %j: %s', (fileName, isTaken) => {
  const queued = {
    version: 2,
    gaia_mesh: '0',
    teams: [{ team: loadTeam('single'), model: 'm', prompt_version: 'p', in_order: false }],
    questions: [{ taskId: 'a', question: '?', category: 'text', truths: [], fileName }],
    files: [],
    repeat: 1,
    limits: {},
    setup: {},
  };
  expect(queuedPlanSchema.safeParse(queued).success).toBe(isTaken);
});

test.each(['single', 'pipeline', 'supervisor', 'react', 'overseer', 'panel'])(
  'the team %s that ships names none',
  (name) => {
    expect(listLocalParts(loadTeam(name))).toEqual([]);
  },
);
