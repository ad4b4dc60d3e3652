import { teamSchema } from '@gaia-mesh/core/contracts/team.ts';
import { expect, test } from 'vitest';
import { buildAgentLaunch } from './agent-launch.ts';

const team = teamSchema.parse({
  version: 1,
  name: 'two-engines',
  engine: 'openai',
  model: 'qwen3',
  model_host: 'http://127.0.0.1:8080/v1',
  final: 3,
  agents: [
    { id: 1, tool: 'extract', engine: 'ollama', model: 'gemma3' },
    { id: 2, tool: 'triple', engine: 'openai' },
    { id: 3, tool: 'reason' },
  ],
});

/** Returns the options about engines that an agent receives. */
function engineOf(id: string): object {
  const agent = team.agents.find((other) => other.id === id);
  if (agent === undefined) throw new Error(`no agent ${id}`);
  const { name, model, host } = buildAgentLaunch(team, agent).setup.engine;
  return { name, model, host };
}

test('an agent has the team’s model and server where it has the team’s engine', () => {
  const ofTeam = { name: 'openai', model: 'qwen3', host: 'http://127.0.0.1:8080/v1' };
  expect(engineOf('2')).toEqual(ofTeam);
  expect(engineOf('3')).toEqual(ofTeam);
});

test('an agent with another engine has its own, or none', () => {
  expect(engineOf('1')).toEqual({ name: 'ollama', model: 'gemma3', host: undefined });
});

test('an agent may what its tool and its engine need, and no more', () => {
  const search = { id: '4', tool: 'tavily_search', engine: 'extractive', may_call: [] };
  const plain = { id: '5', tool: 'list_files', engine: 'extractive', may_call: [] };
  const [thinks] = team.agents;
  if (thinks === undefined) throw new Error('no agent');

  expect(buildAgentLaunch(team, search).permissions).toMatchObject({
    network: true,
    store: false,
    childProcesses: false,
    environment: ['TAVILY_BASE_URL', 'TAVILY_API_KEY', 'GAIA_MESH_CONTACT'],
  });
  expect(buildAgentLaunch(team, plain).permissions).toMatchObject({ network: false, environment: [] });
  expect(buildAgentLaunch(team, thinks).permissions).toMatchObject({
    network: true,
    environment: ['OLLAMA_HOST'],
  });
});
