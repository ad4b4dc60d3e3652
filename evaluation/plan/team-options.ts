import { createHash } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { DOC_INIT } from '@gaia-mesh/core/contracts/packet.ts';
import { createUnknownError } from '@gaia-mesh/core/contracts/registry.ts';
import { resolveEngine, type Team, type TeamAgent } from '@gaia-mesh/core/contracts/team.ts';
import { callType, toResultType } from '@gaia-mesh/core/contracts/tool.ts';
import { findBlockedAgents } from '@gaia-mesh/core/hub/tasks/reachable.ts';
import { readRecordedReplies } from '@gaia-mesh/core/recording/recorded-exchange.ts';
import type { FaultRequest } from '@gaia-mesh/core/run/run-faults.ts';
import { omitUndefined } from '@gaia-mesh/core/system/defined.ts';
import { writeWhole } from '@gaia-mesh/core/system/files/whole-file.ts';
import { guard } from '@gaia-mesh/core/system/process/guard.ts';
import { formatCommandLine } from '@gaia-mesh/core/system/shell-word.ts';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import { type Network, parseNetwork } from '@gaia-mesh/core/transports/network/network.ts';
import { checkSpec, loadAdapter } from '@gaia-mesh/protocols/registry.ts';
import { checkServer, describeEngine, engineNames } from '@gaia-mesh/tools/engines/registry.ts';
import { allowKeyHost } from '@gaia-mesh/tools/engines/server-kind.ts';
import { parseA2aOptions, parseMcpOptions, readVariable } from '@gaia-mesh/tools/foreign/options.ts';
import { checkToolOptions, describeToolNeeds, loadTool } from '@gaia-mesh/tools/registry.ts';
import * as z from 'zod';
import { loadTeam } from '../teams/load-team.ts';
import { toolServices } from '../teams/tool-services.ts';
import { withNames, withTools } from '../teams/user-options.ts';
import { parseFaultRequest } from './fault-request.ts';
import { fingerprintTeam } from './fingerprint.ts';
import { toFlag } from './option-table.ts';
import { engineShorthands, type TeamOptions } from './options.ts';

/** A team ready to run, with all options resolved and checked. */
export interface PlannedTeam {
  readonly team: Team;
  readonly adapter: ProtocolAdapter;
  readonly fingerprint: Awaited<ReturnType<typeof fingerprintTeam>>;
  readonly concurrency: number;
  readonly faults: FaultRequest | undefined;
  /** The network between its hub and its agents; null for the loopback alone. */
  readonly network: Network | null;
  /** True if the team may take answers of earlier runs. */
  readonly usesCache: boolean;
  /** Folder for the results of its mesh. */
  readonly out: string;
}

/**
 * Default number of questions asked at once. Teams that learn ask one at a time, since a question can use only what was learned
 * before it (OV-15, C-14).
 */
const CONCURRENCY = 4;
const ONE_AT_A_TIME: readonly string[] = ['oversee', 'moderate'];

const MAX_PORT = 65_535;

/**
 * Loads teams by their names or files and applies the command line to each.
 *
 * @param external agents that the user starts
 * @throws MeshError `usage`, `config`
 */
export async function loadTeams(
  names: readonly string[],
  given: TeamOptions,
  external: ReadonlySet<string> = new Set(),
): Promise<Team[]> {
  const options = await withReplies(given);
  const teams = names.map((name) => applyTeamOptions(loadTeam(name), options));
  const twice = teams.find((team, index) => teams.findIndex(({ name }) => name === team.name) !== index);
  if (twice !== undefined) throw new MeshError('usage', `--team: ${twice.name} is named twice`);
  const isUsersOwn = names.some((name) => /\.ya?ml$/i.test(name)) || (options.tool ?? []).length > 0;
  for (const team of teams) {
    checkExternal(team, external);
    checkPorts(team, options.portBase);
    // Shipped teams are not checked here, since tests check them.
    if (isUsersOwn) await checkReachable(team, external);
  }
  return teams;
}

/** @throws MeshError `usage` for an agent that the team does not have */
function checkExternal(team: Team, external: ReadonlySet<string>): void {
  for (const id of external) {
    if (team.agents.some((agent) => agent.id === id)) continue;
    const ids = team.agents.map((agent) => agent.id).join(', ');
    throw new MeshError('usage', `--external ${id}: team ${team.name} has no agent ${id}; it has ${ids}`);
  }
}

/** @throws MeshError `usage` for a first port that leaves too few ports for the team */
function checkPorts({ agents }: Team, portBase: number | 'auto' | undefined): void {
  const most = MAX_PORT - agents.length + 1;
  if (Number(portBase) > most)
    throw new MeshError('usage', `--port-base ${portBase}: ${agents.length} agents need at most ${most}`);
}

/**
 * Resolves a team's adapter, fingerprint, faults and network.
 *
 * @param out folder for the results of its mesh
 * @param external agents that the user starts
 */
export async function planTeam(
  team: Team,
  options: TeamOptions & { readonly repeat?: number; readonly cache?: boolean | undefined },
  out: string,
  external: ReadonlySet<string> = new Set(),
): Promise<PlannedTeam> {
  const adapter = await loadAdapter(team.adapter);
  const isSequential = team.agents.some(({ tool }) => ONE_AT_A_TIME.includes(tool));
  return {
    team,
    adapter,
    fingerprint: await fingerprintTeam(team),
    concurrency: options.concurrency ?? (isSequential ? 1 : CONCURRENCY),
    faults: parseFaultRequest(options, team, adapter, external),
    network: findNetwork(options, team),
    // Repeated questions may not use the cache, because they could not improve (C-11).
    usesCache: options.cache === true && options.repeat === 1 && team.use_cache,
    out,
  };
}

/** @throws MeshError `usage` for a network through which the team's packets do not travel */
function findNetwork({ network: name = 'none' }: TeamOptions, team: Team): Network | null {
  const network = parseNetwork(name) ?? null;
  if (network === null || team.transport === 'tcp') return network;
  throw new MeshError(
    'usage',
    `--network ${name} has no effect: the packets of team ${team.name} pass a NATS server, and the network is between the hub and agents that it dials (--transport tcp)`,
  );
}

/**
 * Checks the addresses of the model servers that a team's agents use before the run, so that no agent fails in the middle of it.
 *
 * @throws MeshError `usage`, `config`
 */
function checkTeamServers(team: Team): void {
  for (const agent of team.agents) {
    const { engine, host, options } = resolveEngine(team, agent);
    checkServer(engine, omitUndefined({ host, options }));
  }
}

/**
 * Checks a team's options for foreign servers and agents before anything is started.
 *
 * @throws MeshError `config`, naming the agent and the fault
 */
function checkForeign(team: Team, environment: Readonly<Record<string, string | undefined>>): void {
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

/**
 * Applies the command line to a team. Engine, model and key are checked before anything is started (RA-50).
 *
 * @throws MeshError `usage`, `config`
 */
export function applyTeamOptions(team: Team, given: TeamOptions & { readonly repliesFile?: string }): Team {
  const options = withNames(given);
  const engine = options.engine ?? (options.baseUrl === undefined ? undefined : 'openai');
  if (engine !== undefined && !engineNames.includes(engine))
    throw createUnknownError('engine', engine, engineNames);
  if (options.adapter !== undefined) checkSpec(options.adapter);
  const named = options.host ?? options.baseUrl;
  if (named !== undefined) allowKeyHost(named);
  const host = named ?? team.model_host;
  // Ollama's own variable may hold a bare `host:port`.
  if (host !== undefined && URL.parse(host) === null && !/^[^/\s]+:\d+$/.test(host))
    throw new MeshError(
      'usage',
      `expected an address like http://127.0.0.1:11434, not ${JSON.stringify(host)}`,
    );
  const ofModels = Object.fromEntries([
    ...(options.engineOption ?? []).map(parseEngineOption),
    ...listShorthands(options),
  ]);
  const agents = withTools(team, options.tool).map((agent): TeamAgent => {
    const { engine: _engine, model: _model, ...rest } = agent;
    if (options.repliesFile !== undefined) {
      const { engine_options: _options, ...recorded } = rest;
      return recorded;
    }
    const own =
      agent.engine_options === undefined ? {} : { engine_options: { ...agent.engine_options, ...ofModels } };
    // An engine or a model given for the run applies to every agent.
    if (engine !== undefined) return { ...rest, ...own };
    return options.model === undefined || agent.model === undefined
      ? { ...agent, ...own }
      : { ...agent, model: options.model, ...own };
  });
  const isNatsNamed = options.natsUrl !== undefined || options.natsSubject !== undefined;
  const result: Team = {
    ...team,
    agents,
    delivery: options.delivery ?? team.delivery,
    scorer: options.scorer ?? team.scorer,
    limits: { ...team.limits, task_timeout_s: options.timeout ?? team.limits.task_timeout_s },
    transport: options.transport ?? (isNatsNamed ? 'nats' : team.transport),
    nats_url: options.natsUrl ?? team.nats_url,
    nats_subject: options.natsSubject ?? team.nats_subject,
    adapter: options.adapter ?? team.adapter,
    engine: engine ?? team.engine,
    engine_options: mergeEngineOptions(team, options.repliesFile, ofModels),
    model: options.model ?? team.model,
    model_host: host,
  };
  if (options.queue !== true) checkTeamServers(result);
  if (options.repliesFile === undefined) {
    const engines = agents.map((agent) => resolveEngine(result, agent));
    checkEngineOptions(options, engines, `team ${team.name}`);
  }
  for (const { id, tool, options: own = {} } of result.agents) checkToolOptions(id, tool, own);
  if (options.queue !== true) checkForeign(result, process.env);
  return result;
}

/** Returns the options of the team's engine; the engine of recorded replies has the file alone. */
function mergeEngineOptions(
  { engine_options: own }: Team,
  replies: string | undefined,
  given: NonNullable<Team['engine_options']>,
): Team['engine_options'] {
  if (replies !== undefined) return { replies };
  return Object.keys(given).length === 0 ? own : { ...own, ...given };
}

type EngineOption = [name: string, value: z.core.util.JSONType];

/** Returns the engine options that other options of the command line set. */
function listShorthands(options: TeamOptions): EngineOption[] {
  return [...engineShorthands].flatMap(([key, name]): EngineOption[] => {
    const value = options[key];
    return value === undefined ? [] : [[name, value]];
  });
}

/** Parses the value as JSON, or else returns it as a text. */
function parseEngineOption(given: string): EngineOption {
  const [, name, value = ''] = /^(\w+)=(.*)$/s.exec(given) ?? [];
  if (name === undefined)
    throw new MeshError('usage', `--engine-option ${given}: expected NAME=VALUE, as temperature=0`);
  // Agents work in folders of their own, so a relative path would not resolve.
  if (name === 'weights') return [name, resolveUserPath(value)];
  try {
    return [name, z.json().parse(JSON.parse(value))];
  } catch {
    return [name, value];
  }
}

/**
 * With `--replies`, selects the engine `recorded` and writes the file that its agents read, which exists until this process ends.
 * The file is named after its content, so that a resumed batch has the same fingerprint.
 *
 * @throws MeshError `usage` if another engine was chosen, `config` for an archive without replies
 */
async function withReplies(options: TeamOptions): Promise<TeamOptions & { readonly repliesFile?: string }> {
  if (options.replies === undefined) {
    if (options.engine !== 'recorded') return options;
    throw new MeshError(
      'usage',
      '--engine recorded: give the run to take replies from with --replies run_artifacts.tar.gz',
    );
  }
  if (options.engine !== undefined && options.engine !== 'recorded')
    throw new MeshError(
      'usage',
      `--replies and --engine ${options.engine} exclude each other: recorded replies are an engine of their own`,
    );
  const all = await Promise.all(
    options.replies.map((archive) => readRecordedReplies(resolveUserPath(archive))),
  );
  const text = all
    .flat()
    .map((reply) => `${JSON.stringify(reply)}\n`)
    .join('');
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 16);
  const folder = path.join(os.tmpdir(), `gaia-mesh-replies-${digest}-${process.pid}`);
  const file = path.join(folder, 'replies.jsonl');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const release = guard({ folder });
  process.once('exit', () => {
    rmSync(folder, { recursive: true, force: true });
    release();
  });
  writeWhole(file, text);
  return { ...options, engine: 'recorded', repliesFile: file };
}

/** Tells if the team keeps cached answers or records of its agents in a store. */
export function usesStore({ team, usesCache }: PlannedTeam): boolean {
  return usesCache || hasStore(team);
}

/** Tells if an agent of the team works with the store itself. */
export function hasStore(team: Team): boolean {
  return team.agents.some(({ tool }) => describeToolNeeds(tool).store === true);
}

/** The engine of one agent. */
type ResolvedEngine = Pick<ReturnType<typeof resolveEngine>, 'engine'> & {
  readonly model?: string | undefined;
  readonly host?: string | undefined;
};

/**
 * Refuses options about engines that affect no agent: the embedded engine, for example, ignores a model's name.
 *
 * @param engines the engines of all agents, after the options were applied
 * @param who the owner of the engines, in words
 * @throws MeshError `usage`
 */
export function checkEngineOptions(
  given: Partial<TeamOptions>,
  engines: readonly ResolvedEngine[],
  who: string,
): void {
  const served = engines.filter(({ engine }) => describeEngine(engine).network);
  const isReached: Partial<Record<keyof TeamOptions, boolean>> = {
    model: served.some(({ model }) => model !== undefined),
    host: served.some(({ host }) => host !== undefined),
    baseUrl: served.some(({ host }) => host !== undefined),
  };
  const names = [...new Set(engines.map(({ engine }) => engine))].join(', ');
  for (const key of ['model', 'host', 'baseUrl', ...engineShorthands.keys()] as const) {
    const value = given[key];
    if (value === undefined || (isReached[key] ?? served.length > 0)) continue;
    const others = engineNames.filter((name) => describeEngine(name).network).join(', ');
    throw new MeshError(
      'usage',
      `${toFlag(key)} ${String(value)} has no effect: ${who} thinks with the engine ${names}, which asks no model server with it; ` +
        `name one that does with --engine (${others})`,
    );
  }
  const known = engines.map(({ engine }) => describeEngine(engine).options);
  for (const option of given.engineOption ?? []) {
    const [name = ''] = option.split('=', 1);
    if (known.some((list) => list === 'all' || list.includes(name))) continue;
    throw new MeshError(
      'usage',
      `--engine-option ${option} has no effect: the engine ${names} of ${who} takes only ${[...new Set(known.flat())].join(', ') || 'none'}`,
    );
  }
}

/**
 * Checks that a user's team can give a final answer. A team in which no agent sends the packets that an agent on the way waits
 * for would wait until its time is up. The packets that agents receive and send are those of their handshake
 * (`core/agent/agent.ts`); those of external agents are not known before it, so a team with external agents is not checked.
 *
 * @throws MeshError `config`, naming the agent and the packets it waits for
 */
async function checkReachable(team: Team, external: ReadonlySet<string>): Promise<void> {
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
