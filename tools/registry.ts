import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { createUnknownError } from '@gaia-mesh/core/contracts/registry.ts';
import type { Tool, ToolNeeds } from '@gaia-mesh/core/contracts/tool.ts';
import { createDataTool } from './data-tool.ts';
import { dataTools } from './data-tools.ts';
import { noServices, type ToolServices } from './tool-services.ts';

/** A tool in the registry: its loader, because an agent loads only the tool it has, and the needs of its process. */
interface Entry {
  readonly load: (services: ToolServices) => Promise<Tool>;
  /** They may depend on the agent's options in the team file. */
  readonly needs?: ToolNeeds | ((options: JsonObject) => ToolNeeds) | undefined;
  /** Names of the options that it reads; undefined if it checks them itself. */
  readonly options?: readonly string[] | undefined;
}

/** Options of every role. */
const ROLE = ['time_s', 'tool_timeout_s'];
/** Options of roles that call tools until they have an answer. */
const CALLER = [...ROLE, 'iterations'];

const entries: Record<string, Entry> = {
  // The pipeline: each works on the output of the one before it.
  search: { load: async () => (await import('./pipeline/search.ts')).search, options: [] },
  extract: { load: async () => (await import('./pipeline/extract.ts')).extract, options: [] },
  triple: { load: async () => (await import('./pipeline/triple.ts')).triple, options: [] },
  reason: { load: async () => (await import('./pipeline/reason.ts')).reason, options: [] },
  replay: { load: async () => (await import('./pipeline/replay.ts')).replay },
  // Entries of teams: each runs its team's workflow for a question.
  answer_alone: { load: async () => (await import('./roles/single-agent.ts')).answerAlone, options: CALLER },
  route: { load: async () => (await import('./roles/supervisor/route.ts')).route, options: ROLE },
  react_step: { load: async () => (await import('./roles/single-agent.ts')).reactStep, options: CALLER },
  oversee: {
    load: async (services) => (await import('./roles/overseer/oversee.ts')).oversee(services),
    options: [...ROLE, 'retry', 'run_id', 'team'],
  },
  moderate: {
    load: async () => (await import('./roles/panel/moderate.ts')).moderate,
    options: [...ROLE, 'retry'],
  },
  // Roles that the entries ask.
  answer: {
    load: async () => (await import('./roles/supervisor/route.ts')).specialist,
    options: [...CALLER, 'specialty'],
  },
  plan: { load: async () => (await import('./roles/plan.ts')).plan, options: ROLE },
  execute: { load: async () => (await import('./roles/overseer/execute.ts')).execute, options: CALLER },
  diagnose: { load: async () => (await import('./roles/overseer/diagnose.ts')).diagnose, options: ROLE },
  abstract: { load: async () => (await import('./roles/overseer/diagnose.ts')).abstract, options: ROLE },
  research: { load: async () => (await import('./roles/panel/research.ts')).research, options: CALLER },
  expert: { load: async () => (await import('./roles/panel/expert.ts')).expert, options: CALLER },
  critique: {
    load: async () => (await import('./roles/panel/critique.ts')).critique,
    options: [...ROLE, 'thresholds'],
  },
  finalize: { load: async () => (await import('./roles/panel/finalize.ts')).finalize, options: ROLE },
  // Tools that pass calls on to a foreign server or agent: see docs/interoperate.md.
  mcp: {
    load: async (services) => createDataTool((await import('./foreign/mcp.ts')).createMcpTool(services)),
    needs: describeMcpNeeds,
  },
  a2a: {
    load: async (services) => (await import('./foreign/a2a.ts')).createA2aTool(services),
    needs: describeA2aNeeds,
  },
  // Tools that the roles call.
  ...Object.fromEntries(
    Object.entries(dataTools).map(([name, { load, needs, options = [] }]) => [
      name,
      { load: async (services: ToolServices) => createDataTool(await load(services)), needs, options },
    ]),
  ),
};

// A foreign tool may read the variables that the team file names, and no others.

/** A server at a URL needs the network; a started program gets it only if the team file says so. */
function describeMcpNeeds(options: JsonObject): ToolNeeds {
  const isStarted = 'command' in options;
  return {
    childProcesses: isStarted ? true : undefined,
    network: !isStarted || options.network === true ? true : undefined,
    environment: [...listNames(options.env), ...listNames([options.token])],
  };
}

function describeA2aNeeds({ token }: JsonObject): ToolNeeds {
  return { network: true, environment: listNames([token]) };
}

function listNames(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [];
}

const names = Object.keys(entries);
export const toolNames: readonly string[] = names;

/** Registers a user's tool by its name, replacing a tool that has the same name. */
export function addTool(tool: Tool): void {
  if (!names.includes(tool.name)) names.push(tool.name);
  entries[tool.name] = { load: async () => tool, needs: tool.needs };
}

/** @throws MeshError `usage` for a name that is not registered */
export async function loadTool(name: string, services: ToolServices = noServices): Promise<Tool> {
  const entry = Object.hasOwn(entries, name) ? entries[name] : undefined;
  if (entry === undefined) throw createUnknownError('tool', name, toolNames);
  return entry.load(services);
}

/**
 * Checks the options of an agent with a shipped tool; a user's own tool checks its options itself.
 *
 * @throws MeshError `config` for an option that the tool does not read
 */
export function checkToolOptions(agent: string, name: string, options: JsonObject): void {
  const known = Object.hasOwn(entries, name) ? entries[name]?.options : undefined;
  const unknown = Object.keys(options).find((key) => known?.includes(key) === false);
  if (known === undefined || unknown === undefined) return;
  const has = known.length === 0 ? 'it has none' : `it has ${known.join(', ')}`;
  throw new MeshError('config', `agent ${agent}: options: the tool ${name} has no ${unknown}; ${has}`);
}

/** Returns the permissions that the process of an agent with that tool and those options needs. */
export function describeToolNeeds(name: string, options: JsonObject = {}): ToolNeeds {
  const needs = (Object.hasOwn(entries, name) ? entries[name]?.needs : undefined) ?? {};
  return typeof needs === 'function' ? needs(options) : needs;
}
