import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { teamSchema } from '@gaia-mesh/core/contracts/team.ts';
import { callType, type Tool } from '@gaia-mesh/core/contracts/tool.ts';
import { argument, defineTable, flag } from '@gaia-mesh/evaluation/plan/option-table.ts';
import { readTaskFolder } from '@gaia-mesh/evaluation/questions/read-questions.ts';
import { listShippedTasks, resolveTaskFolder } from '@gaia-mesh/evaluation/questions/task-source.ts';
import { findScorer, scorerNames } from '@gaia-mesh/evaluation/scorers/scorer.ts';
import { listTeamFiles, loadTeam } from '@gaia-mesh/evaluation/teams/load-team.ts';
import { formatJson, printText } from '@gaia-mesh/evaluation/terminal/print.ts';
import { formatTable, toOneLine } from '@gaia-mesh/evaluation/terminal/table.ts';
import { findStage, layerNames } from '@gaia-mesh/protocols/layers/registry.ts';
import { adapterNames, describeAdapter } from '@gaia-mesh/protocols/registry.ts';
import { dataTools } from '@gaia-mesh/tools/data-tools.ts';
import { describeEngine, engineNames } from '@gaia-mesh/tools/engines/registry.ts';
import { loadTool, toolNames } from '@gaia-mesh/tools/registry.ts';
import type { Command } from 'commander';
import * as z from 'zod';
import { defineOptions } from '../../command-line/options.ts';

interface Item {
  readonly name: string;
  readonly description: string;
  /** Further facts, in columns of their own. */
  readonly facts?: Readonly<Record<string, string | number>>;
}

/** Maximum width of a description, so that a line fits a wide terminal. */
const COLUMNS = 100;

const lists: Readonly<Record<string, () => Promise<Item[]>>> = {
  adapters: async () => adapterNames.map((name) => ({ name, description: describeAdapter(name) })),
  layers: async () => layerNames.map((name) => ({ name, description: findStage(name) })),
  engines: async () => engineNames.map((name) => ({ name, description: describeEngine(name).summary })),
  scorers: async () =>
    scorerNames.map((name) => ({ name, description: findScorer(name).measures.join(', ') })),
  tools: () => Promise.all(toolNames.map(async (name) => toToolItem(await loadTool(name)))),
  teams: async () => [...listTeamFiles().keys()].map(toTeamItem),
  tasks: async () =>
    listShippedTasks().map((name) => ({
      name,
      description: readTaskFolder(resolveTaskFolder(name)).question,
    })),
};

const listTable = defineTable({
  options: z.object({
    what: argument('<what>', 'list adapters, layers, tools, engines, teams, tasks or scorers', z.string()),
    json: flag('print a JSON array'),
  }),
});

export function defineList(command: Command): void {
  defineOptions(command, listTable, run);
}

/** Lists all items of one kind. */
async function run({ what, json }: z.output<typeof listTable.options>): Promise<void> {
  const items = Object.hasOwn(lists, what) ? await lists[what]?.() : undefined;
  if (items === undefined) {
    throw new MeshError(
      'usage',
      `cannot list ${JSON.stringify(what)}; there are: ${Object.keys(lists).join(', ')}`,
    );
  }
  const text = json
    ? JSON.stringify(
        items.map(({ facts, ...item }) => ({ ...item, ...facts })),
        null,
        2,
      )
    : formatTable(
        items.map(({ name, facts = {}, description }) => [
          name,
          ...Object.entries(facts).map(([key, value]) => formatFact(key, value)),
          toOneLine(description, COLUMNS),
        ]),
      );
  printText(`${text}\n`);
}

/** Converts a team to a list item. Roles are the agents that think; the others are the tools that they use. */
function toTeamItem(name: string): Item {
  const { agents, routing, description = '' } = loadTeam(name);
  const tools = agents.filter(({ tool }) => Object.hasOwn(dataTools, tool)).length;
  return { name, description, facts: { roles: agents.length - tools, tools, routing } };
}

/** Converts a tool to a list item, in the order of the registry, which groups the kinds. */
function toToolItem({ name, accepts, emits, description }: Tool): Item {
  if (Object.hasOwn(dataTools, name)) return { name, description, facts: { kind: 'tool' } };
  if (accepts.includes(callType(name))) return { name, description, facts: { kind: 'role' } };
  const flow = accepts.length === 0 ? '' : `${accepts.join(', ')} → ${emits.join(', ')}: `;
  const isEntry = accepts.includes('doc_init') && emits.includes('data_event');
  return isEntry
    ? { name, description, facts: { kind: 'entry' } }
    : { name, description: flow + description, facts: { kind: 'pipeline' } };
}

function formatFact(key: string, value: string | number): string {
  if (typeof value === 'string') return value;
  return `${value} ${value === 1 ? key.replace(/s$/, '') : key}`;
}

/** Defines the command that prints the JSON Schema of the team file: `npm run schema` writes the file for editors. */
export function defineSchema(command: Command): void {
  command.action(() => {
    const schema = z.toJSONSchema(teamSchema, { io: 'input', target: 'draft-7', unrepresentable: 'any' });
    printText(formatJson({ ...schema, title: 'Gaia Mesh team' }));
  });
}
