import { readFileSync } from 'node:fs';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { applyTeamOptions } from '@gaia-mesh/evaluation/plan/team-options.ts';
import { buildAgentLaunch } from '@gaia-mesh/evaluation/teams/agent-launch.ts';
import { loadTeam } from '@gaia-mesh/evaluation/teams/load-team.ts';
import { OVERSEER_REPLIES, TRUTH } from '@gaia-mesh/evaluation/teams/overseer/testing/overseer.ts';
import { KEY_HOSTS } from '@gaia-mesh/tools/engines/server-kind.ts';
import { startRoleModel } from '@gaia-mesh/tools/roles/testing/role-model.ts';
import { beforeEach, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { callCli } from '../../testing/call-cli.ts';
import { temporaryFolder } from '../../testing/cli.ts';
import { teamFile, writtenFile } from '../../testing/team-file.ts';

// Where a host is trusted with a key, the agents are told so in the environment.
beforeEach(() => void vi.stubEnv(KEY_HOSTS, ''));

const agentsSchema = z.array(z.looseObject({ id: z.string() }));
const teamSchema = z.looseObject({ agents: agentsSchema });
const ROLES = ['plan', 'execute', 'diagnose', 'abstract'] as const;

/** The overseer's team with what the guide says to change in it, and without the data tools. */
function overseerOfGuide(): string {
  const guide = readFileSync(path.join(codeFolder, 'docs', 'gaia.md'), 'utf8');
  const example = teamSchema.parse(parse(/```yaml\n([\s\S]*?)```/.exec(guide)?.[1] ?? ''));
  const shipped = readFileSync(path.join(codeFolder, 'config', 'teams', 'overseer.yaml'), 'utf8');
  const team = teamSchema.parse(parse(shipped));
  const agents = team.agents
    .filter(({ id }) => ['runner', 'gap_store', ...ROLES].includes(id))
    .map((agent) => (agent.id === 'execute' ? { ...agent, may_call: [] } : agent))
    .map((agent) => example.agents.find(({ id }) => id === agent.id) ?? agent);
  return teamFile({ ...team, ...example, agents });
}

const ask = async (team: string, url: string, ...more: string[]) => {
  const folder = temporaryFolder();
  const question = { task_id: 'a', question: 'Which surname is in the second line?', answer: TRUTH };
  writtenFile(folder, 'q.jsonl', JSON.stringify(question));
  return callCli(['gaia', '--team', team, '--questions', 'q.jsonl', '--out', 'a.jsonl', '--json', ...more], {
    cwd: folder,
    env: { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'invented-key-of-this-test' },
  });
};

test('models by role, as the guide gives the overseer small ones and a large one, are those that are asked, and paid (OV-08, REQ-075)', async () => {
  const model = await startRoleModel(OVERSEER_REPLIES);

  const { code, stdout, stderr } = await ask(overseerOfGuide(), model.url);

  expect(code, stderr).toBe(0);
  expect(ROLES.map((role) => [role, model.asked(role).map((request) => request.model)])).toEqual([
    ['plan', ['claude-haiku-4-5']],
    ['execute', ['claude-sonnet-4-6']],
    ['diagnose', ['claude-haiku-4-5']],
    ['abstract', ['claude-haiku-4-5']],
  ]);
  const { overseer } = JSON.parse(stdout).teams;
  // 100 tokens in and 10 out of each: three at $1 and $5 a million, one at $3 and $15.
  expect(overseer.cost).toBeCloseTo((3 * (100 * 1 + 10 * 5) + (100 * 3 + 10 * 15)) / 1e6, 9);
  expect(model.invalid).toEqual([]);
});

test('a model for the run wins over those of the team file (OV-08)', async () => {
  const model = await startRoleModel(OVERSEER_REPLIES);

  const { code, stderr } = await ask(overseerOfGuide(), model.url, '--model', 'claude-opus-4-5');

  expect(code, stderr).toBe(0);
  expect(new Set(model.requests.map((request) => request.model))).toEqual(new Set(['claude-opus-4-5']));
});

test('a fallback model of the team file is there for every role, whatever model the run names (RA-23)', () => {
  const engine_options = { fallback_model: 'gpt-4o-mini', fallback_base_url: 'http://127.0.0.1:3/v1' };
  const file = teamFile({ ...loadTeam('react'), engine_options });
  const team = applyTeamOptions(loadTeam(file), {
    engine: 'openai',
    model: 'gpt-4o',
    baseUrl: 'http://127.0.0.1:2/v1',
  });

  const [react] = team.agents;
  if (react === undefined) throw new Error('a team without agents');
  expect(buildAgentLaunch(team, react).setup.engine).toMatchObject({
    model: 'gpt-4o',
    options: engine_options,
  });
});

test('one model for the supervisor and all its specialists is a model for the run (SV-21)', () => {
  const team = applyTeamOptions(loadTeam('supervisor'), {
    engine: 'openai',
    model: 'gpt-5-mini',
    baseUrl: 'http://127.0.0.1:2/v1',
  });

  for (const id of ['route', 'web', 'code', 'file', 'math']) {
    const agent = team.agents.find((candidate) => candidate.id === id);
    if (agent === undefined) throw new Error(`there is no ${id}`);
    expect(buildAgentLaunch(team, agent).setup.engine).toMatchObject({ name: 'openai', model: 'gpt-5-mini' });
  }
});
