import { existsSync } from 'node:fs';
import path from 'node:path';
import { MeshError } from '../../core/contracts/errors.ts';
import { codeFolder } from '../../core/system/package-root.ts';

/** A scenario after published work: an ordinary team, its tasks, and what else `bench` is told. See `docs/scenarios.md`. */
interface PublishedScenario {
  readonly about: string;
  /** Tasks, relative to `config/`. */
  readonly tasks: string;
  readonly options: readonly string[];
}

const SCENARIOS = {
  docqa: {
    about: 'questions about a document, step by step (ProtocolBench)',
    tasks: 'tasks/vihterand-tramway/questions.jsonl',
    options: [],
  },
  queue: {
    about: 'a coordinator and four workers, one question at a time to each (ProtocolBench)',
    tasks: 'scenarios/queue.jsonl',
    options: [],
  },
  failstorm: {
    about: 'a ring of eight shards, three of them killed and back again (ProtocolBench)',
    tasks: 'tasks/perrine-tissavoz/questions.jsonl',
    options: [
      ...['--faults', 'kill=shard-1@400ms,kill=shard-4@400ms,kill=shard-6@400ms', '--fault-seed', '1'],
      ...['--restart', 'on-failure'],
    ],
  },
  safety: {
    about: 'a reception that keeps secrets, and an intruder whom the hub refuses (ProtocolBench)',
    tasks: 'scenarios/safety.jsonl',
    options: [],
  },
  consensus: {
    about: 'five peers that tell one another what they hold (AGNTCY)',
    tasks: 'scenarios/consensus.jsonl',
    options: [],
  },
} as const satisfies Readonly<Record<string, PublishedScenario>>;

export const scenarioNames: readonly string[] = Object.keys(SCENARIOS);

/**
 * The arguments with which `bench` runs the scenario `name`.
 *
 * @throws MeshError `usage` for a name that there is not
 */
export function benchArguments(name: string): readonly string[] {
  const scenario = Object.entries(SCENARIOS).find(([known]) => known === name)?.[1];
  if (scenario === undefined) {
    throw new MeshError(
      'usage',
      `unknown scenario ${JSON.stringify(name)}; known: ${scenarioNames.join(', ')}`,
    );
  }
  const config = path.join(codeFolder, 'config');
  const team = path.join(config, 'scenarios', `${name}.yaml`);
  const tasks = path.join(config, scenario.tasks);
  for (const file of [team, tasks]) if (!existsSync(file)) throw new Error(`${file} is missing`);
  // One after the other, as in the originals: what a recording holds then has one order.
  return ['--team', team, '--tasks', tasks, '--concurrency', '1', ...scenario.options];
}
