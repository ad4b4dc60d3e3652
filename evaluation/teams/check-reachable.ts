import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { DOC_INIT } from '@gaia-mesh/core/contracts/packet.ts';
import type { Team, TeamAgent } from '@gaia-mesh/core/contracts/team.ts';
import { callType, toResultType } from '@gaia-mesh/core/contracts/tool.ts';
import { findBlockedAgents } from '@gaia-mesh/core/hub/tasks/reachable.ts';
import { loadTool } from '@gaia-mesh/tools/registry.ts';
import { formatCommandLine } from '../terminal/shell-word.ts';
import { toolServices } from './tool-services.ts';

/**
 * Checks that a user's team can give a final answer. A team in which no agent sends the packets that an agent on the way waits
 * for would wait until its time is up. The packets that agents receive and send are those of their handshake
 * (`core/agent/agent.ts`); those of external agents are not known before it, so a team with external agents is not checked.
 *
 * @throws MeshError `config`, naming the agent and the packets it waits for
 */
export async function checkReachable(team: Team, external: ReadonlySet<string> = new Set()): Promise<void> {
  if (external.size > 0) return;
  const hearers = await Promise.all(team.agents.map((agent) => createRecipient(team, agent)));
  const gaps = findBlockedAgents(team.final, new Set([DOC_INIT]), hearers);
  if (gaps.length === 0) return;
  const named = gaps.map(
    ({ node, tool, subscribes }) => `agent ${node.id} (${tool}) waits for ${subscribes.join(' or ')}`,
  );
  throw new MeshError(
    'config',
    `team ${team.name}: no answer can come from its final agent ${team.final}: ${named.join(', ')}, ` +
      `which no agent before it emits. Add an agent whose tool emits it (${formatCommandLine('list', ['tools'])}), or say in \`subscribes\` what it works on`,
  );
}

async function createRecipient({ agents }: Team, { id, tool: name, subscribes, may_call = [] }: TeamAgent) {
  const tool = await loadTool(name, toolServices);
  const asked = agents.filter((other) => may_call.includes(other.id)).map((other) => other.tool);
  return {
    node: { id },
    tool: name,
    subscribes: [...(subscribes ?? tool.accepts), ...asked.map(toResultType)],
    emits: [...tool.emits, ...asked.map(callType)],
  };
}
