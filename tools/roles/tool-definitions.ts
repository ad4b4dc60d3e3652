import * as z from 'zod';
import type { ToolDefinition } from '../../core/engine.ts';
import type { JsonObject } from '../../core/packet.ts';
import type { Partner } from '../../core/tool.ts';
import { dataTools } from '../data-tools.ts';

/** The argument that every tool has for the model alone: why it is called (REQ-024). */
const REASON = 'reason';

/** The data tools among `partners`, as a model sees them; the store is the runner's alone. */
export async function toolDefinitions(partners: readonly Partner[]): Promise<ToolDefinition[]> {
  const names = [...new Set(partners.map(({ tool }) => tool))].filter(
    (tool) => Object.hasOwn(dataTools, tool) && dataTools[tool]?.needs?.store === undefined,
  );
  return Promise.all(names.map(definitionOf));
}

const objectSchema = z.looseObject({
  properties: z.record(z.string(), z.json()).default({}),
  required: z.array(z.string()).default([]),
});

async function definitionOf(name: string): Promise<ToolDefinition> {
  const entry = dataTools[name];
  if (entry === undefined) throw new Error(`no data tool ${name}`);
  const { description, input } = await entry.load();
  const { $schema: _schema, ...schema } = z.toJSONSchema(input, { io: 'input' });
  const { properties, required, ...rest } = objectSchema.parse(schema);
  const reason = { type: 'string', description: 'In one sentence: why this call, and what you expect of it' };
  const parameters = z.record(z.string(), z.json()).parse({
    ...rest,
    properties: { [REASON]: reason, ...properties },
    required: [REASON, ...required],
  });
  return { name, description, parameters };
}

/** The arguments as the tool knows them, and the reason beside. */
export function splitReason(given: JsonObject): { readonly reason: string; readonly args: JsonObject } {
  const { [REASON]: reason, ...args } = given;
  return { reason: typeof reason === 'string' ? reason : '', args };
}
