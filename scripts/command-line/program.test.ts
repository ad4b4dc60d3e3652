import { toFlag } from '@gaia-mesh/evaluation/plan/option-table.ts';
import { applyTeamOptions, type checkEngineOptions } from '@gaia-mesh/evaluation/plan/team-options.ts';
import { loadTeam } from '@gaia-mesh/evaluation/teams/load-team.ts';
import type { Command } from 'commander';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { commands } from '../commands.ts';
import { findTable, readOptions } from './options.ts';
import { createParser } from './program.ts';

const PROGRAM = { name: 'gaia-mesh', description: 'test', commands };

/** Returns the parser of a command line and the command itself, which only reads its options. */
async function parserOf(name: string): Promise<{ parser: Command; command: Command }> {
  const words = name.split(' ');
  const parser = await createParser(PROGRAM, words);
  const command = words.reduce<Command>(
    (above, word) => above.commands.find((one) => one.name() === word) ?? above,
    parser,
  );
  command.action(() => void readOptions(command));
  for (const one of [parser, ...parser.commands, command]) {
    one.exitOverride().configureOutput({ writeErr: () => undefined });
  }
  return { parser, command };
}

/** Parses a command line as the program does; a command's required arguments and options are given. */
async function parse(line: string): Promise<void> {
  const required: Readonly<Record<string, string>> = {
    'gaia blame': 'q1',
    agent: '--id 1 --tool reason',
    hub: '--ports 1,2',
  };
  const name = /^gaia (?:blame|gaps)|^[\w-]+/.exec(line)?.[0] ?? '';
  const { parser } = await parserOf(name);
  const all = `${name} ${required[name] ?? ''} ${line.slice(name.length)}`.trim().split(/ +/);
  await parser.parseAsync(all, { from: 'user' });
}

/** Values that the options with a parser of their own accept. */
const VALUES: Readonly<Record<string, string>> = {
  'tool-calls': 'auto',
  'fallback-model': 'small',
  context: '4096',
  'port-base': '9100',
  'fault-seed': '1',
  mcp: 'stdio',
  port: '9000',
  rate: '5',
  watch: '8080',
  agents: '4',
  'max-agents': '4',
  'max-tokens': '1',
  'max-cost': '1',
  'max-time': '1',
  'question-cost': '1',
  'question-time': '1',
  limit: '1',
  concurrency: '2',
  repeat: '2',
  timeout: '1',
  'engine-option': 'a=1',
  waiting: '2',
  'max-bytes': '1000',
  transport: 'nats',
  network: 'wan',
  restart: 'on-failure',
  delivery: 'acknowledged',
};

function written(command: Command, condition: string): string {
  const [, key = '', , value] = /^(\w+)([=>](.*))?$/.exec(condition) ?? [];
  const name = value === 'false' ? `--no-${toFlag(key).slice(2)}` : toFlag(key);
  const option = command.options.find(({ long }) => long === name);
  if (option === undefined) throw new Error(`${command.name()} has no option ${name}`);
  if (option.isBoolean() || option.negate) return name;
  if (condition.includes('=') && value !== undefined) return `${name} ${value}`;
  return `${name} ${VALUES[name.slice(2)] ?? 'x'}`;
}

const NAMES = [...commands.map(({ name }) => name), 'gaia blame', 'gaia gaps'];

/** Each need of each command with each of its options and, where it excludes others, each of these. */
const REFUSALS = (
  await Promise.all(
    NAMES.map(async (name) => {
      const { needs = [] } = findTable((await parserOf(name)).command) ?? {};
      return needs.flatMap((need) =>
        need.options.flatMap((option) =>
          (need.excludes ?? [undefined]).map((other) => [name, option, other] as const),
        ),
      );
    }),
  )
).flat();

describe('an option that cannot take effect', () => {
  test.each(REFUSALS)('of %s, --%s beside %s, is refused by name', async (name, option, other) => {
    const { command } = await parserOf(name);
    const line = [name, written(command, option), other === undefined ? '' : written(command, other)];

    await expect(parse(line.join(' '))).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining(toFlag(/\w+/.exec(option)?.[0] ?? '').slice(2)),
    });
  });

  test.each([
    ['bench --resume', '--resume has no effect alone: it goes with --tasks or --repeat above 1 ('],
    ['bench --limit 3', '--limit has no effect alone: it goes with --tasks ('],
    ['gaia --format gaia --tables t', '--tables has no effect alone: it goes with --format wtq ('],
    ['compare --adapters json --rate 5', '--rate has no effect alone: it goes with --stacks ('],
    [
      'compare --stacks mesh/json --max-agents 4',
      '--max-agents does not go with --stacks (a stack has two ends)',
    ],
  ])('as in "%s" is refused with what would give it one', async (line, message) => {
    await expect(parse(line)).rejects.toThrow(message);
  });

  test('the second time is refused', async () => {
    await expect(parse('compare --adapters json,a2a,json')).rejects.toThrow('expected each of them once');
  });

  test('before a subcommand is refused, since only the command above reads it', async () => {
    await expect(parse('gaia blame')).resolves.toBeUndefined();
    const { parser } = await parserOf('gaia blame');

    const early = parser.parseAsync(['gaia', '--questions', 'q.jsonl', 'blame', 'q1'], { from: 'user' });

    await expect(early).rejects.toThrow('--questions stands before blame and has no effect there');
  });
});

test.each([
  'bench --tasks t --limit 3 --resume --cache --max-tokens 5 --watch --open',
  'bench --repeat 2 --resume --concurrency 2 --question-time 3',
  'bench --document d --question q --answer a',
  'bench --faults drop=1% --fault-seed 4 --port-base auto --transport nats --nats-url nats://127.0.0.1:1',
  'bench --replies run_artifacts.tar.gz --timeout 3',
  'gaia blame --replies run_artifacts.tar.gz --model m',
  'gaia --questions q --submission s --username me --cache-file c',
  'gaia --api http://127.0.0.1:1 --limit 1 --username me',
  'gaia --questions q --format wtq --tables t --limit 2',
  'compare --stacks mesh/json --rate 5 --factor tls=on --fail-if x --junit j --recording r',
  'compare --recording r --max-agents 8',
  'serve --mcp stdio --a2a --port 0 --push-to 127.0.0.1',
  'serve --no-token --listen 127.0.0.1',
  'agent --transport nats --nats-subject mine',
  'doctor --base-url http://127.0.0.1:1 --model m --context 4096',
])('"%s" is accepted', async (line) => {
  await expect(parse(line)).resolves.toBeUndefined();
});

describe('options about engines', () => {
  // A server that a user names may get the key, which is noted in the environment.
  beforeAll(() => void vi.stubEnv('GAIA_MESH_KEY_HOSTS', ''));

  const apply = (options: Parameters<typeof checkEngineOptions>[0], team = 'pipeline') =>
    applyTeamOptions(loadTeam(team), options);

  test.each<[string, Parameters<typeof checkEngineOptions>[0]]>([
    ['--model qwen3', { model: 'qwen3' }],
    ['--host http://127.0.0.1:8080', { host: 'http://127.0.0.1:8080' }],
    ['--context 4096', { context: 4096 }],
    ['--tool-calls text', { toolCalls: 'text' }],
    ['--engine-option num_ctx=4', { engineOption: ['num_ctx=4'] }],
  ])('without an engine that takes them are refused: %s', (option, given) => {
    for (const more of [{}, { engine: 'extractive' }])
      for (const team of ['pipeline', 'single', 'supervisor'])
        expect(() => apply({ ...given, ...more }, team)).toThrow(`${option} has no effect: `);
  });

  test('name the engines that take them', () => {
    expect(() => apply({ model: 'qwen3' })).toThrow(
      /team .* thinks with the engine extractive, .* --engine \(.*openai/,
    );
  });

  test('are refused if no agent with a server gets them', () => {
    const own = loadTeam('pipeline');
    const [first, ...rest] = own.agents;
    if (first === undefined) throw new Error('the team has agents');
    const mixed = { ...own, agents: [{ ...first, engine: 'ollama' }, ...rest] };

    expect(() => applyTeamOptions(mixed, { model: 'qwen3' })).toThrow('--model qwen3 has no effect');
    expect(() => applyTeamOptions(mixed, { host: '127.0.0.1:8080' })).toThrow('has no effect');
    expect(() => applyTeamOptions(mixed, { context: 4096 })).not.toThrow();
  });

  test('are accepted with an engine that takes them', () => {
    const given = { host: '127.0.0.1:11434', model: 'm', context: 4096, toolCalls: 'native' as const };
    expect(apply({ ...given, engine: 'ollama', engineOption: ['num_ctx=4'] })).toMatchObject({
      model: 'm',
      model_host: '127.0.0.1:11434',
    });
    expect(apply({ baseUrl: 'http://127.0.0.1:8080/v1', model: 'm' })).toMatchObject({ engine: 'openai' });
    expect(apply({ engineOption: ['temperature=0', 'seed=3'] })).toMatchObject({ engine: 'extractive' });
  });
});
