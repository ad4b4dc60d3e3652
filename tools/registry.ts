import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { createUnknownError } from '@gaia-mesh/core/contracts/registry.ts';
import type { Tool, ToolNeeds } from '@gaia-mesh/core/contracts/tool.ts';
import { createDataTool } from './data-tool.ts';
import { dataTools } from './data-tools.ts';
import { describeA2aNeeds, describeMcpNeeds } from './foreign/needs.ts';
import { noServices, type ToolServices } from './tool-services.ts';

/** A tool in the registry: its loader, because an agent loads only the tool it has, and the needs of its process. */
interface Entry {
  readonly load: (services: ToolServices) => Promise<Tool>;
  /** They may depend on the agent's options in the team file. */
  readonly needs?: ToolNeeds | ((options: JsonObject) => ToolNeeds) | undefined;
}

const entries: Record<string, Entry> = {
  // The pipeline: each works on the output of the one before it.
  search: { load: async () => (await import('./pipeline/search.ts')).search },
  extract: { load: async () => (await import('./pipeline/extract.ts')).extract },
  triple: { load: async () => (await import('./pipeline/triple.ts')).triple },
  reason: { load: async () => (await import('./pipeline/reason.ts')).reason },
  replay: { load: async () => (await import('./pipeline/replay.ts')).replay },
  // Entries of teams: each runs its team's workflow for a question.
  answer_alone: { load: async () => (await import('./roles/single-agent.ts')).answerAlone },
  route: { load: async () => (await import('./roles/supervisor/route.ts')).route },
  react_step: { load: async () => (await import('./roles/single-agent.ts')).reactStep },
  oversee: { load: async (services) => (await import('./roles/overseer/oversee.ts')).oversee(services) },
  moderate: { load: async () => (await import('./roles/panel/moderate.ts')).moderate },
  // Roles that the entries ask.
  answer: { load: async () => (await import('./roles/supervisor/specialist.ts')).specialist },
  plan: { load: async () => (await import('./roles/plan.ts')).plan },
  execute: { load: async () => (await import('./roles/overseer/execute.ts')).execute },
  diagnose: { load: async () => (await import('./roles/overseer/diagnose.ts')).diagnose },
  abstract: { load: async () => (await import('./roles/overseer/diagnose.ts')).abstract },
  research: { load: async () => (await import('./roles/panel/research.ts')).research },
  expert: { load: async () => (await import('./roles/panel/expert.ts')).expert },
  critique: { load: async () => (await import('./roles/panel/critique.ts')).critique },
  finalize: { load: async () => (await import('./roles/panel/finalize.ts')).finalize },
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
    Object.entries(dataTools).map(([name, { load, needs }]) => [
      name,
      { load: async (services: ToolServices) => createDataTool(await load(services)), needs },
    ]),
  ),
};

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

/** Returns the permissions that the process of an agent with that tool and those options needs. */
export function describeToolNeeds(name: string, options: JsonObject = {}): ToolNeeds {
  const needs = (Object.hasOwn(entries, name) ? entries[name]?.needs : undefined) ?? {};
  return typeof needs === 'function' ? needs(options) : needs;
}
