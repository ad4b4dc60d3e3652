import { expect, test } from 'vitest';
import { teamSchema } from '../../core/contracts/team.ts';
import { agentLaunch } from './agent-launch.ts';

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

/** What the agent is told about engines. */
function engineOf(id: string): object {
  const agent = team.agents.find((other) => other.id === id);
  if (agent === undefined) throw new Error(`no agent ${id}`);
  const { name, model, host } = agentLaunch(team, agent).setup.engine;
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
