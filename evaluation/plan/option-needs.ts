import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { resolveEngine } from '@gaia-mesh/core/contracts/team.ts';
import { describeEngineNeeds, engineNames } from '@gaia-mesh/tools/engines/registry.ts';

/**
 * An entry of the table of what options of the command line need to take effect. An option without effect is refused by
 * name, since its user expects one and would take the result for something that it is not.
 *
 * A condition is the name of an option that is given (`tasks`), an option with this value (`format=wtq`), or a number
 * above this one (`repeat>1`).
 */
interface OptionNeed {
  /** Full names of the commands; a need without them applies to every command that has the option. */
  readonly commands?: readonly string[];
  readonly options: readonly string[];
  /** One of these makes the options take effect. */
  readonly needs?: readonly string[];
  /** Each of these takes the effect away, unless one of `unless` is given. */
  readonly excludes?: readonly string[];
  readonly unless?: readonly string[];
  /** The reason, as the end of a sentence. */
  readonly why: string;
}

const ON_MESH = ['bench', 'gaia', 'gaia blame', 'serve'];
const BATCH = ['tasks', 'repeat>1'];
const SERVER_OPTIONS = ['model', 'host', 'base-url', 'tool-calls', 'context'] as const;
const ENGINE_OPTIONS = [...SERVER_OPTIONS, 'engine-option'] as const;

/** The needs that follow from the command line alone. */
export const OPTION_NEEDS: readonly OptionNeed[] = [
  { options: ['base-url'], excludes: ['host'], why: 'both name the model server' },
  {
    commands: ['bench', 'gaia', 'serve'],
    options: ENGINE_OPTIONS,
    excludes: ['replies'],
    why: 'recorded replies are an engine of their own, which calls no model',
  },
  { options: ['fault-seed'], needs: ['faults'], why: 'the seed repeats the faults of an earlier run' },
  {
    commands: ON_MESH,
    options: ['nats-url', 'nats-subject'],
    excludes: ['transport=tcp'],
    why: 'they go with --transport nats',
  },
  {
    commands: ON_MESH,
    options: ['port-base>0'],
    excludes: ['transport=nats', 'nats-url', 'nats-subject'],
    why: 'agents on NATS listen on no port',
  },
  {
    commands: ['bench', 'gaia', 'compare'],
    options: ['open'],
    needs: ['watch'],
    why: 'there is no page to open without it',
  },

  { commands: ['bench'], options: ['tasks', 'document'], excludes: ['task'], why: 'choose one of them' },
  { commands: ['bench'], options: ['tasks'], excludes: ['document'], why: 'choose one of them' },
  { commands: ['bench'], options: ['answer'], needs: ['document'], why: 'a task has its own true answer' },
  { commands: ['bench'], options: ['document'], needs: ['question'], why: 'ask something about it' },
  {
    commands: ['bench'],
    options: ['question', 'answer'],
    excludes: ['tasks'],
    why: 'a task file has its own',
  },
  { commands: ['bench'], options: ['limit'], needs: ['tasks'], why: 'it counts the tasks of a file' },
  {
    commands: ['bench'],
    options: [
      'resume',
      'concurrency',
      'max-tokens',
      'max-cost',
      'max-time',
      'question-cost',
      'question-time',
    ],
    needs: BATCH,
    why: 'a task that is asked once is no batch; limit it with --timeout and --question-tokens',
  },
  { commands: ['bench'], options: ['cache'], needs: ['tasks'], why: 'it saves the answers of a batch' },
  {
    commands: ['bench'],
    options: ['cache'],
    excludes: ['repeat>1'],
    why: 'every repetition asks the team again',
  },

  { commands: ['gaia'], options: ['tables'], needs: ['format=wtq'], why: 'other questions name their files' },
  {
    commands: ['gaia'],
    options: ['files', 'api', 'random'],
    excludes: ['format=wtq'],
    why: 'its tables are in the file of --tables',
  },
  { commands: ['gaia'], options: ['random'], needs: ['api'], why: 'the server draws the question' },
  {
    commands: ['gaia'],
    options: ['questions', 'limit'],
    excludes: ['random'],
    why: 'it asks the one question that the server draws',
  },
  {
    commands: ['gaia'],
    options: ['username', 'agent-code'],
    needs: ['submission', 'api'],
    why: 'nothing is submitted without one of them',
  },
  {
    commands: ['gaia'],
    options: ['username', 'agent-code'],
    excludes: ['questions'],
    unless: ['submission'],
    why: 'answers to questions of your own are submitted only with --submission',
  },
  {
    commands: ['gaia'],
    options: ['cache-file'],
    excludes: ['no-cache', 'repeat>1'],
    why: 'no answer is read from the cache or written to it',
  },
  { commands: ['gaia gaps'], options: ['out'], excludes: ['store'], why: 'both name the database' },

  {
    commands: ['compare'],
    options: ['implementation', 'factor', 'rate'],
    needs: ['stacks', 'bindings'],
    why: 'adapters are compared on recorded packets, without a transport',
  },
  { commands: ['compare'], options: ['bindings'], excludes: ['stacks'], why: 'it is the old name' },
  {
    commands: ['compare'],
    options: ['adapters'],
    excludes: ['stacks', 'bindings'],
    why: 'name them as stacks, e.g. mesh/msgpack',
  },
  {
    commands: ['compare'],
    options: ['teams', 'engines', 'tool'],
    excludes: ['stacks', 'bindings', 'recording'],
    why: '--recording replays a finished run, and stacks take a run only from --recording',
  },
  {
    commands: ['compare'],
    options: ['agents', 'max-agents'],
    excludes: ['stacks', 'bindings'],
    why: 'a stack has two ends',
  },
  { commands: ['compare'], options: ['junit'], needs: ['fail-if'], why: 'the report lists its conditions' },

  { commands: ['serve'], options: ['task'], excludes: ['document'], why: 'choose one of them' },
  {
    commands: ['serve'],
    options: ['port', 'listen', 'token', 'no-token'],
    excludes: ['mcp=stdio'],
    unless: ['a2a'],
    why: 'the one client on standard input and output needs neither address nor token',
  },
  {
    commands: ['serve'],
    options: ['push-to'],
    excludes: ['mcp'],
    unless: ['a2a'],
    why: 'only A2A clients have webhooks (--a2a)',
  },

  {
    commands: ['agent'],
    options: ['nats-url', 'nats-subject'],
    needs: ['transport=nats'],
    why: 'an agent listens on a port otherwise',
  },
  {
    commands: ['agent'],
    options: ['port'],
    excludes: ['transport=nats'],
    why: 'agents on NATS listen on no port',
  },
  {
    commands: ['agent'],
    options: ['timeout'],
    needs: ['engine'],
    why: 'it limits the requests to a model server, and the embedded engine sends none',
  },
  {
    commands: ['agent'],
    options: ['timeout'],
    excludes: ['engine=extractive'],
    why: 'the embedded engine sends no requests',
  },
  {
    commands: ['doctor'],
    options: ['model', 'host', 'tool-calls', 'context'],
    needs: ['engine', 'base-url'],
    why: 'a model is tried only on the engine that you name',
  },
];

/**
 * Refuses options that cannot take effect beside the others, all in one message.
 *
 * @param command its full name, e.g. `gaia blame`
 * @param given the options that the user typed, by their names without dashes
 * @throws MeshError `usage`
 */
export function checkOptionNeeds(command: string, given: ReadonlyMap<string, unknown>): void {
  const faults = OPTION_NEEDS.flatMap((need) => explainLack(command, need, given) ?? []);
  if (faults.length > 0) throw new MeshError('usage', faults.join('; '));
}

/** Says which options of a need have no effect, and why; undefined if they have one, or are not given. */
function explainLack(
  command: string,
  { commands, options, needs, excludes = [], unless = [], why }: OptionNeed,
  given: ReadonlyMap<string, unknown>,
): string | undefined {
  if (commands !== undefined && !commands.includes(command)) return undefined;
  const holds = (condition: string) => isGiven(condition, given);
  const typed = options.filter(holds);
  if (typed.length === 0 || unless.some(holds)) return undefined;
  const named = typed.map(formatCondition).join(', ');
  if (needs !== undefined && !needs.some(holds))
    return `${named} has no effect alone: it goes with ${needs.map(formatCondition).join(' or ')} (${why})`;
  const excluding = excludes.find(holds);
  return excluding && `${named} does not go with ${formatCondition(excluding)} (${why})`;
}

function parseCondition(condition: string) {
  const [, name = '', operator, value = ''] = /^([\w-]+)(?:([=>])(.*))?$/.exec(condition) ?? [];
  return { name, operator, value };
}

function isGiven(condition: string, given: ReadonlyMap<string, unknown>): boolean {
  const { name, operator, value } = parseCondition(condition);
  if (operator === undefined) return given.has(name);
  const found = given.get(name);
  return operator === '=' ? found === value : typeof found === 'number' && found > Number(value);
}

function formatCondition(condition: string): string {
  const { name, operator, value } = parseCondition(condition);
  if (operator === '=') return `--${name} ${value}`;
  return operator === '>' && value !== '0' ? `--${name} above ${value}` : `--${name}`;
}

/** Values of the options about engines, by the names that {@link ENGINE_OPTIONS} has. */
interface EngineOptionValues {
  readonly model?: string | undefined;
  readonly host?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly toolCalls?: string | undefined;
  readonly context?: number | undefined;
  /** Options of the engine: `NAME=VALUE`. */
  readonly engineOption?: readonly string[] | undefined;
}

/** The engine of one agent. */
type ResolvedEngine = Pick<ReturnType<typeof resolveEngine>, 'engine'> & {
  readonly model?: string | undefined;
  readonly host?: string | undefined;
};

/**
 * Refuses options about engines that reach none: a model's name does not make the embedded engine that model.
 *
 * @param engines the engines of all agents, after the options were applied
 * @param who the owner of the engines, in words
 * @throws MeshError `usage`
 */
export function checkEngineOptions(
  given: EngineOptionValues,
  engines: readonly ResolvedEngine[],
  who: string,
): void {
  const served = engines.filter(({ engine }) => describeEngineNeeds(engine).network);
  const reached = {
    model: served.some(({ model }) => model !== undefined),
    host: served.some(({ host }) => host !== undefined),
    'base-url': served.some(({ host }) => host !== undefined),
    'tool-calls': served.length > 0,
    context: served.length > 0,
  };
  const values = { ...given, 'base-url': given.baseUrl, 'tool-calls': given.toolCalls };
  const names = [...new Set(engines.map(({ engine }) => engine))].join(', ');
  for (const option of SERVER_OPTIONS) {
    const value = values[option];
    if (value === undefined || reached[option]) continue;
    const others = engineNames.filter((name) => describeEngineNeeds(name).network).join(', ');
    throw new MeshError(
      'usage',
      `--${option} ${value} has no effect: ${who} thinks with the engine ${names}, which asks no model server with it; ` +
        `name one that does with --engine (${others})`,
    );
  }
  const known = engines.map(({ engine }) => describeEngineNeeds(engine).options);
  for (const option of given.engineOption ?? []) {
    const [name = ''] = option.split('=', 1);
    if (known.some((list) => list === 'all' || list.includes(name))) continue;
    throw new MeshError(
      'usage',
      `--engine-option ${option} has no effect: the engine ${names} of ${who} takes only ${known.flat().join(', ') || 'none'}`,
    );
  }
}
