import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { codeFolder, packageVersion } from '@gaia-mesh/core/system/package-root.ts';
import { describe, expect, test, vi } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { entry, runCli, temporaryFolder } from '../../testing/cli.ts';
import { teamFile, writtenFile } from '../../testing/team-file.ts';

const SAMPLES = path.join(codeFolder, 'config', 'samples', 'questions.jsonl');
const COMMANDS = ['bench', 'evaluate', 'logs', 'list', 'doctor', 'clean'];

describe('the command line', () => {
  test('says its version', async () => {
    expect(await callCli(['--version'])).toMatchObject({
      code: 0,
      stdout: `${packageVersion}\n`,
      stderr: '',
    });
  });

  test('has help that names every command', async () => {
    const { code, stdout } = await callCli(['--help']);

    expect(code).toBe(0);
    for (const command of COMMANDS) expect(stdout).toMatch(new RegExp(`^  ${command} `, 'm'));
  });

  test('blames no agent for what Ctrl-C ended', async () => {
    const before = process.listeners('SIGINT');
    const ended = callCli(['hub', '--ports', '1,2', '--wait', '20']);
    const added = () => process.listeners('SIGINT').find((listener) => !before.includes(listener));
    (await vi.waitUntil(added))('SIGINT');
    const { code, stderr } = await ended;
    expect(code).toBe(130);
    expect(stderr).toMatch(/gaia-mesh: interrupted\n$/);
  });

  test.each(COMMANDS)('has help for %s', async (command) => {
    const { code, stdout, stderr } = await callCli([command, '--help']);

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`Usage: gaia-mesh ${command}`);
  });

  test.each([
    [['bench', '--adaptor', 'json'], '--adapter'],
    [['bnech'], 'bench'],
    [['bnech', '--help'], 'bench'],
    [['bench', '--concurrency', '0'], '--concurrency'],
    [['bench', '--limit', 'x'], '--limit'],
    [['bench', '--timeout', '-1'], '--timeout'],
    [
      ['compare', '--stacks', 'mesh/json', '--rate', 'x'],
      'expected a number a second, above 0 and at most 100000.',
    ],
    [['conformance', 'package.json'], 'package.json: expected a module (a file that ends in .ts,'],
    [['bench', '--adapter', './mine.json+zstd'], './mine.json+zstd: expected a module'],
    [['compare', '--margin', '101'], 'expected a percentage, above 0 and at most 100.'],
    [['gaia', '--max-cost', '0'], 'expected US dollars, above 0.'],
    [['bench', '--port-base', '70000'], '--port-base'],
    [['bench', 'stray'], 'too many arguments'],
    [
      ['gaia', '--queue', '--no-wait', '--store', 'postgres://127.0.0.1:1/x', '--out', 'a.jsonl'],
      '--out does not go with --no-wait',
    ],
    [['prompt-test', 'plon', '--with', SAMPLES], 'unknown prompt "plon"; known: abstract, '],
    ...['--summary', '--save-baseline'].map((flag): [string[], string] => [
      ['compare', '--adapters', 'json', flag, path.dirname(SAMPLES)],
      'it is a folder: name a file.',
    ]),
    ...['report', 'import', 'export'].map((command): [string[], string] => [
      [
        command,
        SAMPLES,
        ...(command === 'export' ? ['--as', 'perfetto'] : []),
        '--out',
        path.dirname(SAMPLES),
      ],
      'it is a folder: name a file.',
    ]),
    ...['bench', 'compare', 'serve', 'clean'].map((command): [string[], string] => [
      [command, '--out', SAMPLES],
      'it is a file: name a folder.',
    ]),
    [['export', path.dirname(SAMPLES), '--as', 'perfetto'], 'there is no run in'],
    [['export', SAMPLES, '--as', 'otlp', '--out', 'ftp://x/y'], '--out: expected a file or an http(s) URL'],
    [['export', SAMPLES, '--as', 'parquet', '--out', SAMPLES], 'it is a file: name a folder.'],
    [['serve', '--token', 'GAIA_MESH_TOKEN', '--no-token'], '--token and --no-token contradict each other'],
    [['bench', '--adapter', 'json', '--adapter', 'a2a'], '--adapter is given twice'],
    [['gaia', '--team', 'all,single', '--questions', SAMPLES], 'all has every team: name it alone.'],
    ...['--store', '--cache-file', '--otlp'].map((flag): [string[], string] => [
      ['gaia', '--team', 'single', '--questions', SAMPLES, flag, path.dirname(SAMPLES)],
      'it is a folder: name a file.',
    ]),
    [['gaia', '--team', 'single', '--questions', SAMPLES, '--files', SAMPLES], 'it is a file'],
    [
      ['agent', '--id', '2', '--tool', 'triple', '--port', '0', '--options', '{"words":1}'],
      'agent 2: options: the tool triple has no words; it has none',
    ],
    [
      ['agent', '--id', '2', '--tool', 'triple', '--port', '0', '--workspace', path.join(SAMPLES, 'x')],
      `${SAMPLES} is a file, and no folder can be made in it.`,
    ],
    [['agent', '--tool', 'triple', '--port', '0'], '--id'],
    [['agent', '--id', '2', '--tool', 'triple'], '--port is required over TCP'],
    [['gaia', 'balme'], 'has no command "balme", only gaps and blame'],
    [['report', path.dirname(SAMPLES)], 'there is no run in'],
    [['gaia', '--team', 'single', '--questions', SAMPLES, '--cache-file', SAMPLES], 'is not an answer cache'],
    [['agent', '--id', '../x', '--tool', 'triple', '--port', '0'], '--id'],
    [['agent', '--id', '2', '--tool', 'triple', '--port', 'http'], '--port'],
    [['agent', '--id', '2', '--tool', 'hammer', '--port', '0'], 'search, extract, triple, reason'],
    [['agent', '--id', '2', '--tool', 'triple', '--port', '0', '--engine', 'oracle'], 'extractive, ollama'],
    [['agent', '--id', '2', '--tool', 'triple', '--port', '0', '--adapter', 'xml'], 'json, msgpack'],
    [['list', 'wishes'], 'adapters, '],
    [['evaluate', '--scorer', 'taste', '--input', '-'], 'exact_rouge, squad, bleu, gaia'],
    [['evaluate', '--scorer', 'gaia'], '--input'],
    [
      ['gaia', '--team', 'single', '--questions', SAMPLES, '--pairs', 'all'],
      '--pairs all has no effect with one team',
    ],
  ])('refuses %j with 2 and says what would do', async (args, message) => {
    const { code, stdout, stderr } = await callCli(args);

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/^ +at /m);
  });
});

describe('bench', () => {
  test.each([
    [
      ['--adapter', 'xml'],
      ['"xml"', 'json', 'msgpack'],
    ],
    [
      ['--engine', 'oracle'],
      ['"oracle"', 'extractive', 'ollama'],
    ],
    [
      ['--team', 'dream'],
      ['"dream"', 'pipeline', '.yaml'],
    ],
    [
      ['--scorer', 'taste'],
      ['"taste"', 'exact_rouge', 'squad', 'bleu', 'gaia'],
    ],
    [
      ['--external', '7'],
      ['no agent 7', '0, 1, 2, 3'],
    ],
    [['--port-base', '65534'], ['65534']],
  ])('refuses %j with 2 and lists what there is', async (args, words) => {
    const { code, stdout, stderr } = await callCli(['bench', '--out', temporaryFolder(), ...args]);

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    for (const word of words) expect(stderr).toContain(word);
  });
});

describe('a model server on a port that no request may go to', () => {
  const QUESTIONS = ['--questions', 'q.jsonl', '--out', 'a.jsonl'];
  const HOST = 'http://127.0.0.1:6000/v1';

  test.each([
    [['bench', '--engine', 'openai', '--host', HOST]],
    [['bench', '--engine', 'ollama', '--host', '127.0.0.1:6000']],
    [['gaia', '--team', 'pipeline', ...QUESTIONS, '--base-url', HOST]],
    [['gaia', '--team', 'single', ...QUESTIONS, '--engine', 'ollama', '--host', HOST]],
    [['gaia', '--team', 'pipeline', '--api', HOST]],
    [['agent', '--id', '2', '--tool', 'triple', '--port', '0', '--engine', 'ollama', '--host', HOST]],
  ])('is refused with 2 before anything starts: %j', async (args) => {
    const cwd = temporaryFolder();
    writtenFile(cwd, 'q.jsonl', '{"task_id":"a","question":"Who?"}\n');

    const { code, stdout, stderr } = await callCli(args, { cwd });

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/expected a port .*127\.0\.0\.1:6000 has port 6000.*choose another port/);
    expect(stderr).not.toMatch(/bug|fetch failed|is up/);
  });
});

test.skipIf(!existsSync('/proc/self'))(
  'a folder for results that cannot be made is named in one sentence',
  async () => {
    const run = await callCli(['bench', '--out', '/proc/results', '--port-base', 'auto']);
    expect(run.code).toBe(1);
    expect(run.stderr.trim()).toBe(
      'gaia-mesh: cannot make /proc/results/workspaces: there is no such folder; choose another folder for the results (--out)',
    );
  },
);

describe('a team file', () => {
  test('that cannot be used is refused with its line and the agent, before anything starts', async () => {
    const text = 'version: 1\nname: mine\nfinal: 0\nagents:\n  - id: fred\n    tool: [search, reason]\n';
    const file = writtenFile(temporaryFolder(), 'team.yaml', text);

    const { code, stdout, stderr } = await callCli(['bench', '--team', file, '--out', temporaryFolder()]);

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^gaia-mesh: .*team\.yaml:6: agents\.0\.tool: .*\(agent fred\)\n$/);
  });

  test('that is missing is named', async () => {
    const file = path.join(temporaryFolder(), 'nowhere.yaml');

    const { code, stderr } = await callCli(['bench', '--team', file]);

    expect(code).toBe(2);
    expect(stderr).toBe(`gaia-mesh: team file ${file}: there is no such file\n`);
  });

  test('is found from the folder that the command was typed in', async () => {
    const file = teamFile({ final: 0, agents: [{ id: 0, tool: 'hammer' }] });

    const { stderr } = await callCli(['bench', '--team', path.basename(file)], { cwd: path.dirname(file) });

    expect(stderr).toContain(file);
  });

  test.each(['bench', 'gaia'])(
    'whose answer cannot come is refused by %s before anything starts',
    async (command) => {
      const cwd = temporaryFolder();
      writtenFile(cwd, 'q.jsonl', '{"task_id":"a","question":"What?","document":"It is so."}\n');
      const agents = [
        { id: 0, tool: 'search' },
        { id: 3, tool: 'reason' },
      ];
      const questions =
        command === 'gaia' ? ['--questions', 'q.jsonl', '--out', 'a.jsonl'] : ['--out', 'out'];
      const run = await callCli([command, '--team', teamFile({ final: 3, agents }), ...questions], { cwd });

      expect(run.code).toBe(2);
      expect(run.stderr).toMatch(
        /^gaia-mesh: team test: no answer can come .*: agent 3 \(reason\) waits for triples, which no/,
      );
      expect(readdirSync(cwd)).toEqual(['q.jsonl']);
    },
  );
});

describe('a line that cannot do what it says', () => {
  test('with an option that npm kept for itself is given back as it was meant', async () => {
    const env = { npm_lifecycle_event: 'bench', npm_config_json: 'true' };
    expect(await callCli(['bench'], { env })).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('(--json) unless they stand after --: npm run bench -- --json'),
    });
    const team = { npm_lifecycle_event: 'bench', npm_config_team: 'true' };
    expect((await callCli(['bench', 'react'], { env: team })).stderr).toContain(
      'npm run bench -- --team react',
    );
    // npm has a cache of its own, and an empty value is a default.
    const own = { ...env, npm_config_json: '', npm_config_cache: '/tmp/npm', npm_config_yes: '' };
    for (const none of ['none', 'README.md'])
      expect((await callCli(['bench', '--task', none], { env: own })).stderr).toContain(`no task ${none}`);
  });

  test('with a folder of others for the results is refused, with a folder below it', async () => {
    const out = temporaryFolder();
    writtenFile(out, 'thesis.txt', 'ten years of work');
    for (const command of ['bench', 'compare']) {
      const { code, stderr } = await callCli([command, '--out', out]);
      expect([code, readdirSync(out)]).toEqual([2, ['thesis.txt']]);
      expect(stderr).toContain(`has other files (thesis.txt)`);
      expect(stderr).toContain(`--out ${path.join(out, 'results')}`);
    }
  });

  test.runIf(existsSync('/dev/full'))('into a full device says so, once, and fails', async () => {
    const { code, stderr } = await runCli(['-c', `"${process.execPath}" "${entry}" list teams > /dev/full`], {
      program: 'sh',
    });
    expect([code, stderr]).toEqual([
      1,
      'gaia-mesh: standard output: write: the disk is full: make room, or choose another folder (ENOSPC)\n',
    ]);
  });
});
