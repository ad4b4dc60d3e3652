import path from 'node:path';
import { loadTeam, teamFiles } from '../../config/load-team.ts';
import { userPath } from '../../config/user-paths.ts';
import { MeshError } from '../../core/errors.ts';
import { scorerNamed, scorerNames } from '../../core/evaluation/scorer.ts';
import { readTaskFolder } from '../../core/tasks/task-source.ts';
import { layerNames, stageOf } from '../../protocols/layers/registry.ts';
import { adapterNames } from '../../protocols/registry.ts';
import { engineNames } from '../../tools/engines/registry.ts';
import { toolNamed, toolNames } from '../../tools/registry.ts';
import { shippedTasks, tasksFolder } from '../bench/plan.ts';
import { oneLine, table } from '../terminal/table.ts';

interface Item {
  readonly name: string;
  readonly description: string;
}

const lists: Readonly<Record<string, () => Promise<Item[]>>> = {
  adapters: async () => plain(adapterNames),
  layers: async () => layerNames.map((name) => ({ name, description: stageOf(name) })),
  engines: async () => plain(engineNames),
  scorers: async () =>
    scorerNames.map((name) => ({ name, description: scorerNamed(name).measures.join(', ') })),
  tools: () =>
    Promise.all(
      toolNames.map(async (name) => {
        const tool = await toolNamed(name);
        return {
          name,
          description: `${tool.accepts.join(', ')} → ${tool.emits.join(', ')}: ${tool.description}`,
        };
      }),
    ),
  teams: async () =>
    [...teamFiles().keys()].map((name) => ({
      name,
      description: loadTeam(name, userPath).description ?? '',
    })),
  tasks: async () =>
    shippedTasks().map((name) => ({
      name,
      description: readTaskFolder(path.join(tasksFolder, name)).question,
    })),
};

/** Prints what there is of one kind. */
export async function list(what: string, options: { readonly json?: boolean }): Promise<void> {
  const items = Object.hasOwn(lists, what) ? await lists[what]?.() : undefined;
  if (items === undefined) {
    throw new MeshError(
      'usage',
      `cannot list ${JSON.stringify(what)}; there are: ${Object.keys(lists).join(', ')}`,
    );
  }
  const text = options.json
    ? JSON.stringify(items, null, 2)
    : table(items.map((item) => [item.name, oneLine(item.description, 100)]));
  process.stdout.write(`${text}\n`);
}

function plain(names: readonly string[]): Item[] {
  return names.map((name) => ({ name, description: '' }));
}
