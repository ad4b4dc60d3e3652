import type { Team, TeamAgent } from '../../core/team.ts';

/** How a team's agent is started: the arguments that a person would type after `gaia-mesh agent`. */
export function agentArguments(team: Team, agent: TeamAgent): string[] {
  const model = agent.model ?? team.model;
  const options = agent.engine_options ?? team.engine_options;
  // Before the task's own end, so that the engine can still say what it waited for.
  const timeout = team.limits.task_timeout_s * 0.9;
  return [
    `--timeout=${timeout}`,
    `--engine=${agent.engine ?? team.engine}`,
    ...(model === undefined ? [] : [`--model=${model}`]),
    ...(team.model_host === undefined ? [] : [`--host=${team.model_host}`]),
    ...(options === undefined ? [] : [`--engine-options=${JSON.stringify(options)}`]),
    ...(agent.subscribes === undefined ? [] : [`--subscribes=${agent.subscribes.join(',')}`]),
  ];
}
