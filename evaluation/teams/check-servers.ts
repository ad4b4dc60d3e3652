import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { resolveEngine, type Team } from '@gaia-mesh/core/contracts/team.ts';
import { omitUndefined } from '@gaia-mesh/core/system/defined.ts';
import { checkServers } from '@gaia-mesh/tools/engines/registry.ts';
import { parseA2aOptions } from '@gaia-mesh/tools/foreign/a2a.ts';
import { readVariable } from '@gaia-mesh/tools/foreign/foreign.ts';
import { parseMcpOptions } from '@gaia-mesh/tools/foreign/mcp.ts';

/**
 * Whether the model servers that a team's agents will ask have addresses that can be asked: to be told before a run, not by each
 * agent in the middle of it.
 *
 * @throws MeshError `usage`, `config`
 */
export function checkTeamServers(team: Team): void {
  for (const agent of team.agents) {
    const { engine, host, options } = resolveEngine(team, agent);
    checkServers(engine, omitUndefined({ host, options }));
  }
}

/**
 * What a team file says of other people's servers and agents, before anything is started.
 *
 * @throws MeshError `config`, naming the agent and what is wrong
 */
export function checkForeign(team: Team, environment: Readonly<Record<string, string | undefined>>): void {
  for (const { id, tool, options = {} } of team.agents) {
    if (tool !== 'mcp' && tool !== 'a2a') continue;
    try {
      const own = tool === 'mcp' ? parseMcpOptions(options) : parseA2aOptions(options);
      const named = [...('env' in own ? own.env : []), ...('token' in own ? [own.token ?? ''] : [])];
      for (const name of named) if (name !== '') readVariable(name, environment, tool);
    } catch (cause) {
      throw new MeshError('config', `agent ${id}: ${toErrorMessage(cause)}`, { cause });
    }
  }
}
