import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { resolveEngine, type Team } from '@gaia-mesh/core/contracts/team.ts';
import { omitUndefined } from '@gaia-mesh/core/system/defined.ts';
import { dataTools } from '@gaia-mesh/tools/data-tools.ts';
import {
  explainInability,
  formatCapabilities,
  type ModelCapabilities,
  type ModelUse,
} from '@gaia-mesh/tools/engines/abilities/model-abilities.ts';
import { queryModelCapabilities } from '@gaia-mesh/tools/engines/abilities/registry.ts';

/** One model that some agents of a team ask. */
interface UsedModel {
  readonly engine: string;
  readonly model: string | undefined;
  readonly host: string | undefined;
  readonly use: ModelUse;
}

/**
 * Asks the servers of a team's models what these can do.
 *
 * @param asked what was asked before: teams of a batch share models
 * @returns a line for each model, which says what will be used of it
 * @throws MeshError `usage` for a model that cannot do the team's work, with models there that can
 */
export async function checkTeamModels(
  team: Team,
  asked: Map<string, Promise<ModelCapabilities | undefined>> = new Map(),
): Promise<string[]> {
  const lines: string[] = [];
  for (const { engine, model, host, use } of listUsedModels(team)) {
    const key = JSON.stringify([engine, model, host]);
    const answer = asked.get(key) ?? queryModelCapabilities(engine, omitUndefined({ model, host }));
    asked.set(key, answer);
    let abilities: ModelCapabilities | undefined;
    try {
      abilities = await answer;
    } catch (error) {
      // A server that is not there is told of where it is needed, with what to do; it may be there by then.
      if (!(error instanceof MeshError && error.code === 'engine')) throw error;
      lines.push(error.message);
    }
    if (abilities === undefined) continue;
    const fault = explainInability(`team ${team.name}`, abilities, use);
    if (fault !== undefined) throw new MeshError('usage', fault, { setting: 'model' });
    lines.push(formatCapabilities(abilities, use));
  }
  return lines;
}

/** The models that think for a team, each once. */
function listUsedModels(team: Team): UsedModel[] {
  const models = new Map<string, UsedModel>();
  for (const agent of team.agents) {
    if (Object.hasOwn(dataTools, agent.tool)) continue;
    const { engine, model, host, options = {} } = resolveEngine(team, agent);
    const calls = (agent.may_call ?? []).some((id) => {
      const partner = team.agents.find((other) => other.id === id)?.tool ?? '';
      return Object.hasOwn(dataTools, partner) && dataTools[partner]?.needs?.store === undefined;
    });
    const key = JSON.stringify([engine, model, host]);
    const before = models.get(key);
    const { tool_calls: how, context } = options;
    models.set(key, {
      engine,
      model,
      host,
      use: {
        toolCalls: how === 'native' || how === 'text' ? how : 'auto',
        needsTools: calls || before?.use.needsTools === true,
        context: typeof context === 'number' ? context : before?.use.context,
      },
    });
  }
  return [...models.values()];
}
