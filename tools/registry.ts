import { registry } from '../core/registry.ts';
import type { Tool, ToolNeeds } from '../core/tool.ts';
import { dataTool } from './data-tool.ts';
import { dataTools } from './data-tools.ts';

/** A tool in the registry: how it is loaded, since an agent loads the one tool it has, and what its process needs. */
interface Entry {
  readonly load: () => Promise<Tool>;
  readonly needs?: ToolNeeds;
}

const entries: Readonly<Record<string, Entry>> = {
  // The pipeline: each works on what the one before it sends.
  search: { load: async () => (await import('./search.ts')).search },
  extract: { load: async () => (await import('./extract.ts')).extract },
  triple: { load: async () => (await import('./triple.ts')).triple },
  reason: { load: async () => (await import('./reason.ts')).reason },
  replay: { load: async () => (await import('./replay.ts')).replay },
  // Entries of teams: each runs its team's workflow for a question.
  answer_alone: { load: async () => (await import('./roles/answer-alone.ts')).answerAlone },
  route: { load: async () => (await import('./roles/route.ts')).route },
  react_step: { load: async () => (await import('./roles/react-step.ts')).reactStep },
  oversee: { load: async () => (await import('./roles/oversee.ts')).oversee },
  moderate: { load: async () => (await import('./roles/moderate.ts')).moderate },
  // Roles that they ask.
  answer: { load: async () => (await import('./roles/specialist.ts')).specialist },
  plan: { load: async () => (await import('./roles/plan.ts')).plan },
  execute: { load: async () => (await import('./roles/execute.ts')).execute },
  diagnose: { load: async () => (await import('./roles/diagnose.ts')).diagnose },
  abstract: { load: async () => (await import('./roles/abstract.ts')).abstract },
  research: { load: async () => (await import('./roles/research.ts')).research },
  expert: { load: async () => (await import('./roles/expert.ts')).expert },
  critique: { load: async () => (await import('./roles/critique.ts')).critique },
  finalize: { load: async () => (await import('./roles/finalize.ts')).finalize },
  // Tools that the roles ask.
  ...Object.fromEntries(
    Object.entries(dataTools).map(([name, { load, needs }]) => [
      name,
      { load: async () => dataTool(await load()), ...(needs === undefined ? {} : { needs }) },
    ]),
  ),
};

const tools = registry<Tool>(
  'tool',
  Object.fromEntries(Object.entries(entries).map(([name, { load }]) => [name, load])),
);

export const toolNames = tools.names;
export const toolNamed = tools.load;

/** What the process of an agent with that tool must be allowed. */
export function toolNeeds(name: string): ToolNeeds {
  return (Object.hasOwn(entries, name) ? entries[name]?.needs : undefined) ?? {};
}
