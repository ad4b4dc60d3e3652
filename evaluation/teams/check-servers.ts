import { engineOf, type Team } from '../../core/contracts/team.ts';
import { defined } from '../../core/system/defined.ts';
import { checkServers } from '../../tools/engines/registry.ts';

/**
 * Whether the model servers that a team's agents will ask have addresses that can be asked: to be told before a run, not by each
 * agent in the middle of it.
 *
 * @throws MeshError `usage`, `config`
 */
export function checkTeamServers(team: Team): void {
  for (const agent of team.agents) {
    const { engine, host, options } = engineOf(team, agent);
    checkServers(engine, {
      ...defined({ host, options }),
    });
  }
}
