import path from 'node:path';
import type { AgentLaunch, AgentPermissions, AgentSpec } from '@gaia-mesh/core/agent/spec.ts';
import { engineOf, type Team, type TeamAgent } from '@gaia-mesh/core/contracts/team.ts';
import type { FaultRequest } from '@gaia-mesh/core/run/run-faults.ts';
import { engineNeeds } from '@gaia-mesh/tools/engines/registry.ts';
import { toolNeeds } from '@gaia-mesh/tools/registry.ts';
import { storeFile } from '../store/sql/store-file.ts';
import { filesFor, readsOf } from './user-files.ts';

/** What Postgres's own programs read. */
const POSTGRES_VARIABLES = [
  'PGHOST',
  'PGPORT',
  'PGUSER',
  'PGDATABASE',
  'PGPASSWORD',
  'PGPASSFILE',
  'PGSSLMODE',
];

/** Places of a run that some agents may use beside their own workspaces. */
export interface RunPlaces {
  /** The folder of all tasks' files. */
  readonly files?: string;
  /** A file, or the URL of a server. */
  readonly store?: string;
  /** A file of branches of a recorded question. */
  readonly branches?: string;
}

/** How an agent of a team is launched: what it is told, and what its process may do. */
export function agentLaunch(
  team: Team,
  agent: TeamAgent,
  { files, store, branches }: RunPlaces = {},
  faults?: FaultRequest,
): AgentLaunch {
  const { engine, model, host, options = {} } = engineOf(team, agent);
  const needs = toolNeeds(agent.tool, agent.options);
  const userFiles = filesFor({ tool: agent.tool, engine });
  const own = {
    files: needs.files === undefined ? undefined : files,
    store: needs.store === undefined ? undefined : store,
    prompt: agent.prompt,
  };
  return {
    setup: {
      ...own,
      engine: {
        name: engine,
        model,
        host,
        options,
        // Before the task's own end, so that the engine can still say what it waited for.
        timeoutMs: team.limits.task_timeout_s * 900,
      },
      subscribes: agent.subscribes,
      partners: (agent.may_call ?? []).map((id) => ({
        id,
        tool: toolOf(team, id),
        tools: toolsOf(team, id),
      })),
      options: toolOptionsOf(team, agent),
      userFiles,
      ...liesOf(agent, faults),
      ...(branches === undefined ? {} : { branches }),
    },
    permissions: permissionsOf(agent, engine, own, [
      ...readsOf(userFiles),
      ...engineFilesOf(options),
      ...(branches === undefined ? [] : [branches]),
    ]),
  };
}

/** What it is asked to lie about. */
function liesOf(
  { id }: TeamAgent,
  { faults = [], seed = 0 }: Partial<FaultRequest> = {},
): Pick<AgentSpec, 'lies'> {
  const types = faults.flatMap((fault) => (fault.kind === 'lie' && fault.agent === id ? [fault.type] : []));
  return types.length === 0 ? {} : { lies: { types, seed: seed ?? 0 } };
}

const agentOf = ({ agents }: Team, id: string) => agents.find((agent) => agent.id === id);
const toolOf = (team: Team, id: string) => agentOf(team, id)?.tool ?? '';

/** What the agent `id` may ask for in turn. */
function toolsOf(team: Team, id: string): string[] {
  return (agentOf(team, id)?.may_call ?? []).map((partner) => toolOf(team, partner));
}

function permissionsOf(
  { tool, prompt, options }: TeamAgent,
  engine: string,
  { files, store }: { files: string | undefined; store: string | undefined },
  userReads: readonly string[],
): AgentPermissions {
  const needs = toolNeeds(tool, options);
  const thinking = engineNeeds(engine);
  const isServer = store !== undefined && storeFile(store) === undefined;
  const fileFolder = files === undefined ? [] : [files + path.sep];
  const storeFolder = store === undefined ? [] : folderOf(store);
  return {
    reads: [...userReads, ...fileFolder, ...storeFolder, ...(prompt === undefined ? [] : [prompt])],
    writes: [...(needs.files === 'write' ? fileFolder : []), ...storeFolder],
    childProcesses: needs.childProcesses === true,
    workers: needs.workers === true,
    store: store !== undefined,
    network: needs.network === true || thinking.network || isServer,
    environment:
      thinking.environment === 'all'
        ? 'all'
        : [...(needs.environment ?? []), ...thinking.environment, ...(isServer ? POSTGRES_VARIABLES : [])],
  };
}

/** Files of an engine: replies that it gives again, weights of its own. */
function engineFilesOf({ replies, weights }: NonNullable<Team['engine_options']>): string[] {
  return [replies, weights].filter((file) => typeof file === 'string');
}

/** Where a store's file lies; a server's store lies nowhere here. */
function folderOf(store: string): string[] {
  const file = storeFile(store);
  return file === undefined ? [] : [path.dirname(file) + path.sep];
}

/** The agent's own options; the entry agent also hears what the team says about its work. */
function toolOptionsOf({ entry, limits, retry }: Team, agent: TeamAgent): NonNullable<TeamAgent['options']> {
  const retries = Object.entries(retry ?? {}).flatMap(([role, most]) =>
    most === undefined ? [] : [[role, most]],
  );
  const ofTeam = agent.id === entry ? { retry: Object.fromEntries(retries) } : {};
  return { ...(entry === undefined ? {} : { iterations: limits.iterations }), ...ofTeam, ...agent.options };
}
