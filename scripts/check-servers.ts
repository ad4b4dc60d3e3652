import type { Team } from '../core/team.ts';
import { checkServers } from '../tools/engines/registry.ts';

/**
 * Whether the model servers that a team's agents will ask have addresses that can be asked: to be told before a run, not by each
 * agent in the middle of it.
 *
 * @throws MeshError `usage`, `config`
 */
export function checkTeamServers(team: Team): void {
  for (const { engine = team.engine, engine_options: options = team.engine_options } of team.agents) {
    // A server of one engine means nothing to another, as in `agentArguments`.
    const host = engine === team.engine ? team.model_host : undefined;
    checkServers(engine, {
      ...(host === undefined ? {} : { host }),
      ...(options === undefined ? {} : { options }),
    });
  }
}
