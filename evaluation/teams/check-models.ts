import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { resolveEngine, type Team } from '@gaia-mesh/core/contracts/team.ts';
import { omitUndefined } from '@gaia-mesh/core/system/defined.ts';
import { dataTools } from '@gaia-mesh/tools/data-tools.ts';
import {
  explainInability,
  formatCapabilities,
  type ModelCapabilities,
  type ModelUse,
} from '@gaia-mesh/tools/engines/capabilities.ts';
import { queryModelCapabilities, startEngineServer } from '@gaia-mesh/tools/engines/registry.ts';

/** A model that some agents of a team use. */
interface UsedModel {
  readonly engine: string;
  readonly model: string | undefined;
  readonly host: string | undefined;
  readonly options: NonNullable<Team['engine_options']>;
  /** Another model takes over where this one is not available. */
  readonly hasFallback: boolean;
  readonly use: ModelUse;
}

/**
 * Queries the capabilities of a team's models.
 *
 * @param asked earlier queries, since teams of a batch share models
 * @param isPatient true if answers may come without the server, e.g. from a cache: then an unreachable one is only noted
 * @returns a line for each model about how it will be used
 * @throws MeshError `usage` for a model that cannot do the team's work, naming available models that can; `engine` for a server that
 * cannot be reached or refuses the key
 */
export async function checkTeamModels(
  team: Team,
  asked: Map<string, Promise<ModelCapabilities | undefined>> = new Map(),
  isPatient = false,
): Promise<string[]> {
  const lines: string[] = [];
  for (const used of listUsedModels(team)) {
    const { engine, model, host, hasFallback, use } = used;
    const key = JSON.stringify([engine, model, host]);
    const answer = asked.get(key) ?? startAndQuery(used);
    asked.set(key, answer);
    let capabilities: ModelCapabilities | undefined;
    try {
      capabilities = await answer;
    } catch (error) {
      if (!(error instanceof MeshError && error.code === 'engine')) throw error;
      if (!isPatient && !hasFallback)
        throw new MeshError(
          'engine',
          `${error.message}; --engine extractive needs no model. No agent was started and nothing was asked`,
          {
            cause: error,
          },
        );
      lines.push(error.message);
    }
    if (capabilities === undefined) continue;
    const fault = explainInability(`team ${team.name}`, capabilities, use);
    if (fault !== undefined && !(hasFallback && capabilities.isThere === false))
      throw new MeshError('usage', `${fault}. No agent was started and nothing was asked`, {
        setting: 'model',
      });
    lines.push(fault ?? formatCapabilities(capabilities, use));
  }
  return lines;
}

async function startAndQuery({
  engine,
  model,
  host,
  options,
}: UsedModel): Promise<ModelCapabilities | undefined> {
  await startEngineServer(engine, omitUndefined({ model, options }));
  return queryModelCapabilities(engine, omitUndefined({ model, host }));
}

/** Returns the models that a team's agents use, without duplicates. */
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
    const hasFallback = 'fallback_model' in options || 'fallback_base_url' in options;
    models.set(key, {
      engine,
      model,
      host,
      options,
      hasFallback: hasFallback || before?.hasFallback === true,
      use: {
        toolCalls: how === 'native' || how === 'text' ? how : 'auto',
        needsTools: calls || before?.use.needsTools === true,
        context: typeof context === 'number' ? context : before?.use.context,
      },
    });
  }
  return [...models.values()];
}
