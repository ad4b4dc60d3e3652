import { registry } from '../core/registry.ts';
import type { Tool } from '../core/tool.ts';

// An agent loads the one tool it has, weights and all.
const tools = registry<Tool>('tool', {
  search: async () => (await import('./search.ts')).search,
  extract: async () => (await import('./extract.ts')).extract,
  triple: async () => (await import('./triple.ts')).triple,
  reason: async () => (await import('./reason.ts')).reason,
  replay: async () => (await import('./replay.ts')).replay,
});

export const toolNames = tools.names;
export const toolNamed = tools.load;
