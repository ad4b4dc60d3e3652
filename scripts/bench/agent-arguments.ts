import path from 'node:path';
import { sharedId } from '../../core/copy-id.ts';
import { engineOf, type Team, type TeamAgent } from '../../core/team.ts';
import { storeFile } from '../../store/store-file.ts';
import { toolNeeds } from '../../tools/registry.ts';

/** Places of a run that some agents may use beside their own workspaces. */
export interface RunPlaces {
  /** The folder of all tasks' files. */
  readonly files?: string;
  /** A file, or the URL of a server. */
  readonly store?: string;
}

/** How a team's agent is started: the arguments that a person would type after `gaia-mesh agent`. */
export function agentArguments(team: Team, agent: TeamAgent, places: RunPlaces = {}): string[] {
  const { engine, model, host, options } = engineOf(team, agent);
  const needs = toolNeeds(agent.tool);
  const partners = (agent.may_call ?? []).map(
    (id) => `${id}:${team.agents.find((other) => other.id === id)?.tool ?? ''}`,
  );
  const toolOptions = toolOptionsOf(team, agent);
  // Before the task's own end, so that the engine can still say what it waited for.
  const timeout = team.limits.task_timeout_s * 0.9;
  return [
    `--timeout=${timeout}`,
    `--engine=${engine}`,
    ...(model === undefined ? [] : [`--model=${model}`]),
    ...(host === undefined ? [] : [`--host=${host}`]),
    ...(options === undefined ? [] : [`--engine-options=${JSON.stringify(options)}`]),
    ...(agent.subscribes === undefined ? [] : [`--subscribes=${agent.subscribes.join(',')}`]),
    ...(partners.length === 0 ? [] : [`--partners=${partners.join(',')}`]),
    ...(toolOptions === undefined ? [] : [`--options=${JSON.stringify(toolOptions)}`]),
    ...(agent.prompt === undefined ? [] : [`--prompt=${agent.prompt}`]),
    ...(places.files === undefined || needs.files === undefined ? [] : [`--files=${places.files}`]),
    ...(places.store === undefined || needs.store === undefined ? [] : [`--store=${places.store}`]),
  ];
}

/** What its process is allowed for them, as options of Node. */
export function agentPermissions(agent: TeamAgent, places: RunPlaces): string[] {
  const needs = toolNeeds(agent.tool);
  const files = places.files === undefined ? undefined : places.files + path.sep;
  const store = places.store === undefined ? undefined : storeFolder(places.store);
  return [
    ...(files === undefined || needs.files === undefined ? [] : [`--allow-fs-read=${files}`]),
    ...(files === undefined || needs.files !== 'write' ? [] : [`--allow-fs-write=${files}`]),
    ...(store === undefined || needs.store === undefined
      ? []
      : [`--allow-fs-read=${store}${path.sep}`, `--allow-fs-write=${store}${path.sep}`]),
    ...(agent.prompt === undefined ? [] : [`--allow-fs-read=${agent.prompt}`]),
    ...(needs.childProcesses === true ? ['--allow-child-process'] : []),
    ...(needs.workers === true ? ['--allow-worker'] : []),
  ];
}

/** Where a store's file lies; a server's store lies nowhere here. */
function storeFolder(store: string): string | undefined {
  const file = storeFile(store);
  return file === undefined ? undefined : path.dirname(file);
}

/** The agent's own options; the entry agent also hears what the team says about its work. */
function toolOptionsOf(
  { entry, limits, retry }: Team,
  agent: TeamAgent,
): Record<string, unknown> | undefined {
  const own = agent.options ?? {};
  const ofTeam = sharedId(agent.id) === entry ? { retry: retry ?? {} } : {};
  const all = { ...(entry === undefined ? {} : { iterations: limits.iterations }), ...ofTeam, ...own };
  return Object.keys(all).length === 0 ? undefined : all;
}
