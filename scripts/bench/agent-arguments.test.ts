import { expect, test } from 'vitest';
import { teamSchema } from '../../core/team.ts';
import { agentArguments } from './agent-arguments.ts';

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
function engineOf(id: string): string[] {
  const agent = team.agents.find((other) => other.id === id);
  if (agent === undefined) throw new Error(`no agent ${id}`);
  return agentArguments(team, agent).filter((option) => /^--(engine|model|host)=/.test(option));
}

test('an agent has the team’s model and server where it has the team’s engine', () => {
  const ofTeam = ['--engine=openai', '--model=qwen3', '--host=http://127.0.0.1:8080/v1'];
  expect(engineOf('2')).toEqual(ofTeam);
  expect(engineOf('3')).toEqual(ofTeam);
});

test('an agent with another engine has its own, or none', () => {
  expect(engineOf('1')).toEqual(['--engine=ollama', '--model=gemma3']);
});
