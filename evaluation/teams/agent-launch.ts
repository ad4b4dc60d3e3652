import path from 'node:path';
import type { AgentLaunch, AgentPermissions, AgentSpec } from '@gaia-mesh/core/agent/spec.ts';
import { resolveEngine, type Team, type TeamAgent } from '@gaia-mesh/core/contracts/team.ts';
import type { FaultRequest } from '@gaia-mesh/core/run/run-faults.ts';
import { describeEngine } from '@gaia-mesh/tools/engines/registry.ts';
import { describeToolNeeds } from '@gaia-mesh/tools/registry.ts';
import { resolveStoreFile } from '../store/open-store.ts';
import { listUserFiles, listUserReads } from './user-files.ts';

/** Environment variables of Postgres' own programs. */
const POSTGRES_VARIABLES = [
  'PGHOST',
  'PGPORT',
  'PGUSER',
  'PGDATABASE',
  'PGPASSWORD',
  'PGPASSFILE',
  'PGSSLMODE',
];

/** Paths of a run that some agents may use besides their own workspaces. */
interface RunPaths {
  /** The folder of all tasks' files. */
  readonly files?: string;
  /** A file, or the URL of a server. */
  readonly store?: string;
  /** A file of branches of a recorded question. */
  readonly branches?: string | undefined;
}

/** Builds the launch of a team's agent: its set-up, and the permissions of its process. */
export function buildAgentLaunch(
  team: Team,
  agent: TeamAgent,
  { files, store, branches }: RunPaths = {},
  faults?: FaultRequest,
): AgentLaunch {
  const { engine, model, host, options = {} } = resolveEngine(team, agent);
  const needs = describeToolNeeds(agent.tool, agent.options);
  const userFiles = listUserFiles({ tool: agent.tool, engine });
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
        // The engine times out before the task, so that it can still report what it waited for.
        timeoutMs: team.limits.task_timeout_s * 900,
      },
      subscribes: agent.subscribes,
      partners: (agent.may_call ?? []).map((id) => ({
        id,
        tool: findAgentTool(team, id),
        tools: listAgentTools(team, id),
      })),
      options: resolveToolOptions(team, agent),
      userFiles,
      lies: findLies(agent, faults),
      branches,
    },
    permissions: buildPermissions(agent, engine, own, [
      ...listUserReads(userFiles),
      ...listEngineFiles(options),
      ...(branches === undefined ? [] : [branches]),
    ]),
  };
}

/** Returns the lies that the faults request of an agent. */
function findLies(
  { id }: TeamAgent,
  { faults = [], seed = 0 }: Partial<FaultRequest> = {},
): AgentSpec['lies'] {
  const types = faults.flatMap((fault) => (fault.kind === 'lie' && fault.agent === id ? [fault.type] : []));
  return types.length === 0 ? undefined : { types, seed: seed ?? 0 };
}

const findTeamAgent = ({ agents }: Team, id: string) => agents.find((agent) => agent.id === id);
const findAgentTool = (team: Team, id: string) => findTeamAgent(team, id)?.tool ?? '';

/** Returns the tools that the agent `id` may call. */
function listAgentTools(team: Team, id: string): string[] {
  return (findTeamAgent(team, id)?.may_call ?? []).map((partner) => findAgentTool(team, partner));
}

function buildPermissions(
  { tool, prompt, options }: TeamAgent,
  engine: string,
  { files, store }: { files: string | undefined; store: string | undefined },
  userReads: readonly string[],
): AgentPermissions {
  const needs = describeToolNeeds(tool, options);
  const thinking = describeEngine(engine);
  const isServer = store !== undefined && resolveStoreFile(store) === undefined;
  const fileFolder = files === undefined ? [] : [files + path.sep];
  const storeFolder = store === undefined ? [] : listStoreFolders(store);
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

/** Returns the files of an engine: recorded replies, or weights of its own. */
function listEngineFiles({ replies, weights }: NonNullable<Team['engine_options']>): string[] {
  return [replies, weights].filter((file) => typeof file === 'string');
}

/** Returns the folder of the store's file; none for a store on a server. */
function listStoreFolders(store: string): string[] {
  const file = resolveStoreFile(store);
  return file === undefined ? [] : [path.dirname(file) + path.sep];
}

/** Returns the agent's own options; the entry agent also gets the team's settings for its work. */
function resolveToolOptions(
  { entry, limits, retry }: Team,
  agent: TeamAgent,
): NonNullable<TeamAgent['options']> {
  const retries = Object.entries(retry ?? {}).flatMap(([role, most]) =>
    most === undefined ? [] : [[role, most]],
  );
  const ofTeam = agent.id === entry ? { retry: Object.fromEntries(retries) } : {};
  return { ...(entry === undefined ? {} : { iterations: limits.iterations }), ...ofTeam, ...agent.options };
}
