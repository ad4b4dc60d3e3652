import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { Cli, jsonLines } from '../../testing/cli.ts';
import { FACTS, oneByOne, place, QUESTIONS, run } from '../../testing/gaia-questions.ts';
import { trimTeam } from '../../testing/team-file.ts';

/** Runs a team of one agent, as most of a batch does not depend on the team. */
const runSingle = (folder: string, ...args: string[]) => run(folder, '--team', 'single', ...args);

describe('gaia on a file of questions', () => {
  test('writes answers in input order, a leaderboard file and a log, and prints the table (REQ-007, REQ-073, REQ-074, SV-03)', async () => {
    const folder = place();

    const { code, stdout, stderr } = await run(folder);

    expect([code, stderr]).toEqual([0, expect.stringContaining('3/3 questions, 3 answered, 3 right')]);
    const answers = jsonLines(path.join(folder, 'a.jsonl'));
    expect(
      answers.map((line) => [line.task_id, line.final_answer, line.status, line.correct, line.level]),
    ).toEqual([
      ['lamp', '3 October 1868', 'answered', true, '1'],
      ['bridge', 'Ida Lund', 'answered', true, '2'],
      ['clock', 'Zoë Müller', 'answered', true, '1'],
    ]);
    for (const line of answers) {
      expect(line).toMatchObject({ team: 'pipeline', cycle: 1, cost: 0, packets: 4 });
      for (const key of ['tokens', 'bytes', 'seconds']) expect(line[key]).toBeGreaterThan(0);
      expect(line.reasoning_trace).not.toBe('');
    }
    expect(jsonLines(path.join(folder, 'a.leaderboard.jsonl')).map((line) => line.model_answer)).toHaveLength(
      3,
    );
    expect(stdout).toMatch(/pipeline +all +3 +3 +3 +100\.0 % +43\.8–100\.0 %/);
    expect(stdout).toMatch(/per right answer/);
    expect(stdout).toMatch(/✅ DONE → See a\.jsonl and a\.report\.html\n$/);
    expect(readdirSync(folder).filter((name) => /^agent_run_\d{8}-\d{6}\.log$/.test(name))).toHaveLength(1);
    // The mesh's own results, with the packets.
    const mesh = path.join(folder, 'a.runs', 'pipeline');
    expect(existsSync(path.join(mesh, 'run_artifacts.tar.gz'))).toBe(true);
    // Batches run beside a `bench`, whose agents have the ports from 9000 on.
    const agents = jsonLines(path.join(mesh, 'workspaces', 'hub.log')).filter(
      ({ event }) => event === 'agent_up',
    );
    expect(agents).toHaveLength(4);
    for (const { where } of agents) expect(where).not.toMatch(/:900\d$/);
  });

  test('has every team read the same text in a file, whether it reads it or is given its text', async () => {
    const folder = place();

    const { stdout } = await run(
      folder,
      '--team',
      `single,${trimTeam('supervisor', (tool) => /^(route|answer|read_file)$/.test(tool))}`,
      '--json',
    );

    const { single, supervisor } = JSON.parse(stdout).teams;
    expect([single.correct, supervisor.correct]).toEqual([3, 3]);
  });

  test('leaves a page with every question, which report makes again from the answers, the journal or the head beside them', async () => {
    const folder = place();
    const { code, stdout, stderr } = await run(
      folder,
      ...['--team', 'single,pipeline', '--no-cache', '--junit', 'j.xml', '--summary', 's.md'],
      ...['--save-baseline', 'b.json', '--fail-if', 'pipeline.right < 101', 'pipeline.right < 1x single'],
    );

    // The teams are compared as adapters and stacks are.
    expect(code).toBe(1);
    expect(stdout).toMatch(/Cannot tell whether pipeline is better or\s+worse than single/);
    expect(stderr).toMatch(/FAILED: pipeline\.right < 101 \(100 % \(95 % interval .*\) against 101\)/);
    const text = (name: string) => readFileSync(path.join(folder, name), 'utf8');
    expect(text('j.xml')).toContain('tests="2" failures="1"');
    expect(text('s.md')).toContain('| pipeline.right &lt; 101 | ❌ failed |');
    expect(text('b.json')).toBe(text('a.comparison.json'));
    expect(JSON.parse(text('a.comparison.json'))).toMatchObject({ kind: 'teams', baseline: 'single' });
    const compared = await callCli(['report', 'a.comparison.json', '--out', 'c.html'], { cwd: folder });
    expect(compared.code).toBe(0);
    const saved = [
      '--team',
      'single,pipeline',
      '--baseline',
      'b.json',
      '--fail-if',
      'pipeline.right < 1x saved',
    ];
    const later = await run(folder, '--no-cache', '--resume', ...saved);
    expect([later.code, later.stderr]).toEqual([
      0,
      expect.stringContaining('cannot tell: pipeline.right < 1x saved'),
    ]);
    const fewer = await run(folder, '--out', 'fewer.jsonl', '--limit', '2', ...saved);
    expect([fewer.code, fewer.stderr]).toEqual([
      2,
      expect.stringContaining('differ: the questions (then 3, '),
    ]);

    // Each page says by which command it was made, and when.
    const read = (name: string) =>
      readFileSync(path.join(folder, name), 'utf8').replace(
        /"command":"[^"]*"(?=[^{}]*"madeAt")|"madeAt":"[^"]*"/g,
        '',
      );
    const page = read('a.report.html');
    expect(page).toContain('Who built the bridge over the Orra?');
    expect(page).toContain('"baseline":"single"');
    for (const name of ['a.jsonl', 'a.jsonl.journal', 'a.batch.json']) {
      const again = await callCli(['report', name, '--out', 'again.html'], { cwd: folder });
      expect(again).toMatchObject({ code: 0, stdout: `${path.join(folder, 'again.html')}\n` });
      expect(read('again.html')).toBe(page);
    }
    const beside = await callCli(['report', 'a.jsonl'], { cwd: folder });
    expect(beside.stdout).toBe(`${path.join(folder, 'a.report.html')}\n`);
  });

  test('prints its summary alone with --json, and answers from the cache the second time (RA-08)', async () => {
    const folder = place();
    const first = JSON.parse((await runSingle(folder, '--json')).stdout);
    expect(first).toMatchObject({
      schema_version: 1,
      complete: true,
      scorer: 'gaia',
      questions: 3,
      repeat: 1,
      teams: {
        single: { questions: 3, answered: 3, correct: 3, accuracy: 1, cached: 0, engine: 'extractive' },
      },
    });
    const { levels, per_correct, low, high, questions_per_s } = first.teams.single;
    expect(Object.keys(levels)).toEqual(['1', '2']);
    expect(levels['1']).toMatchObject({ questions: 2, correct: 2, accuracy: 1, per_correct: { packets: 1 } });
    expect(low).toBeCloseTo(0.4385, 3);
    expect(high).toBe(1);
    expect(per_correct.tokens).toBeGreaterThan(0);
    expect(questions_per_s).toBeGreaterThan(0);

    const second = JSON.parse((await runSingle(folder, '--json')).stdout);
    expect(second.teams.single).toMatchObject({ correct: 3, cached: 3, tokens: 0, packets: 0 });
    const { tokens, cost, packets, bytes, seconds } = first.teams.single;
    expect(second.teams.single.cached_use).toMatchObject({ tokens, cost, packets, bytes });
    expect(second.teams.single.cached_use.seconds).toBeCloseTo(seconds, 6);
    expect(second.teams.single.metrics).toMatchObject({
      cache_hit_rate: 1,
      model_calls_per_question: null,
    });
    const took = jsonLines(path.join(folder, 'a.jsonl')).map(({ seconds }) => Number(seconds));
    const sum = took.reduce((all, seconds) => all + seconds, 0);
    expect(second.teams.single.metrics.seconds_per_cached).toBeCloseTo(sum / 3, 2);
    expect((await runSingle(folder, '--json', '--no-cache')).stdout).toContain('"cached": 0');
  });

  test('goes on without a file that is missing, and says so first (REQ-052, RA-04)', async () => {
    const folder = place([...QUESTIONS.slice(0, 2), { ...QUESTIONS[2], file_name: 'gone.txt' }]);

    const { code, stderr } = await runSingle(folder);

    expect(code).toBe(0);
    const note = `file of question clock: ${path.join(folder, 'gone.txt')}: there is no such file`;
    expect(stderr.indexOf(note)).toBeGreaterThanOrEqual(0);
    expect(stderr.indexOf(note)).toBeLessThan(stderr.indexOf('1/3 questions'));
    expect(jsonLines(path.join(folder, 'a.jsonl'))[2]).toMatchObject({
      file: expect.stringContaining('gone.txt: missing'),
    });
  });

  test('killed with SIGKILL and resumed asks only what was not finished, and nothing has got lost', async () => {
    const many = Array.from({ length: 12 }, (_, i) =>
      QUESTIONS.map((line) => ({ ...line, task_id: `${line.task_id}-${i}` })),
    ).flat();
    const folder = place(many);
    const args = oneByOne('single');
    const none = await callCli(['gaia', ...args, '--resume'], { cwd: folder });
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('--resume: no batch to resume')]);
    const killed = new Cli(['gaia', ...args], { cwd: folder });
    await killed.says(/8\/36 questions/);
    killed.signal('SIGKILL');
    await killed.ended();
    const before = readFileSync(path.join(folder, 'a.jsonl.journal'), 'utf8');
    const whole = before.slice(0, before.lastIndexOf('\n') + 1);
    expect(existsSync(path.join(folder, 'a.jsonl'))).toBe(false);
    const pageOfKilled = await callCli(['report', 'a.jsonl'], { cwd: folder });
    expect(readFileSync(path.join(folder, 'a.report.html'), 'utf8')).toContain('The batch is not finished');

    const { code, stderr } = await callCli(['gaia', ...args, '--resume'], { cwd: folder });

    expect([code, stderr]).toEqual([0, expect.stringContaining('36/36 questions')]);
    expect(readFileSync(path.join(folder, 'a.jsonl.journal'), 'utf8').startsWith(whole)).toBe(true);
    expect(jsonLines(path.join(folder, 'a.jsonl')).map((line) => line.task_id)).toEqual(
      many.map((line) => line.task_id),
    );
    // Of a batch that was killed there is a page, too.
    expect(pageOfKilled).toMatchObject({ code: 0 });
    const other = await callCli(['gaia', ...args, '--resume', '--repeat', '2'], { cwd: folder });
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('repeat: 1 then, 2 now')]);
  });

  test('repeated shows cycles, and stops where its tokens are used up', async () => {
    const folder = place();
    const whole = JSON.parse((await runSingle(folder, '--repeat', '2', '--json')).stdout);
    expect(whole.teams.single).toMatchObject({
      questions: 3,
      cached: 0,
      pass_at: { 1: 1, 2: 1 },
      pass_hat: { 2: 1 },
    });
    expect(whole.teams.single.cycles).toMatchObject([{ cycle: 1 }, { cycle: 2, delta: 0, newly_wrong: 0 }]);
    expect(jsonLines(path.join(folder, 'a.jsonl')).map((line) => `${line.task_id} ${line.cycle}`)).toEqual(
      [1, 2].flatMap((cycle) => QUESTIONS.map(({ task_id }) => `${task_id} ${cycle}`)),
    );

    const { code, stdout, stderr } = await runSingle(
      folder,
      '--no-cache',
      '--concurrency',
      '1',
      '--max-tokens',
      '1',
      '--json',
    );
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/of 1 tokens \(--max-tokens\)[\s\S]*To go on: .* --resume/),
    ]);
    expect(JSON.parse(stdout)).toMatchObject({
      complete: false,
      ended_by: 'limit',
      teams: { single: { questions: 3, answered: 1, not_asked: 2, scored: 3 } },
    });
  });

  test.each([
    ['no questions', ['--out', 'a.jsonl'], 'give --questions FILE.jsonl, or --api URL'],
    ['an unknown team', ['--team', 'nobody', '--questions', 'q.jsonl'], 'unknown team "nobody"'],
    ['an unknown engine', ['--engine', 'steam', '--questions', 'q.jsonl'], 'unknown engine "steam"'],
    ['an address that is none', ['--host', 'nowhere', '--questions', 'q.jsonl'], 'expected an address like'],
    ['a concurrency of 0', ['--concurrency', '0', '--questions', 'q.jsonl'], '--concurrency'],
    [
      'one cache file for two teams',
      ['--team', 'pipeline,single', '--cache-file', 'c', '--questions', 'q.jsonl'],
      '--cache-file is for one team',
    ],
    [
      'a folder of files that is none',
      ['--files', 'gone', '--questions', 'q.jsonl'],
      'gone: there is no such folder',
    ],
    [
      'answers that are a folder',
      ['--out', '.', '--questions', 'q.jsonl'],
      'is a folder: name the file for the answers',
    ],
    ['a broken line', ['--questions', 'broken.jsonl'], 'broken.jsonl:2: not JSON'],
  ])('refuses %s before anything is started (REQ-076, C-21)', async (_what, args, message) => {
    const folder = place();
    writeFileSync(path.join(folder, 'broken.jsonl'), '{"task_id":"a","question":"q"}\n{"task_id":');

    const { code, stdout, stderr } = await callCli(['gaia', ...args], { cwd: folder });

    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(message)]);
    expect(readdirSync(folder).filter((name) => /journal|\.runs|\.log/.test(name))).toEqual([]);
  });
});

test.each(['pipeline', 'overseer'])(
  'a --store that is another file is refused before anything of %s is started, and an earlier batch stays',
  async (team) => {
    const folder = place();
    writeFileSync(path.join(folder, 'a.jsonl.journal'), 'of an earlier batch');

    const { code, stdout, stderr } = await run(folder, '--team', team, '--store', 'lamp.txt');

    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`${path.join(folder, 'lamp.txt')} is not a store of Gaia Mesh`);
    expect(readFileSync(path.join(folder, 'lamp.txt'), 'utf8')).toBe(FACTS.lamp);
    expect(readFileSync(path.join(folder, 'a.jsonl.journal'), 'utf8')).toBe('of an earlier batch');
    expect(readdirSync(folder).sort()).toEqual([
      'a.jsonl.journal',
      'bridge.txt',
      'clock.txt',
      'lamp.txt',
      'q.jsonl',
    ]);
  },
);

test('Ctrl-C ends a batch in order: what is finished is written, and it says how to go on', async () => {
  const many = Array.from({ length: 40 }, (_, i) => ({ ...QUESTIONS[i % 3], task_id: `q-${i}` }));
  const folder = place(many);
  const args = oneByOne('single');
  const batch = new Cli(['gaia', ...args], { cwd: folder });
  await batch.says(/4\/40 questions/);
  batch.signal('SIGINT');

  const { code, stdout, stderr } = await batch.ended();

  expect(code).toBe(130);
  expect(stderr).toContain('The batch ended early: interrupted');
  expect(stdout).toMatch(/\d+ not asked, which count as wrong/);
  const answers = jsonLines(path.join(folder, 'a.jsonl'));
  expect(answers.length).toBeGreaterThanOrEqual(4);
  expect(answers.length).toBeLessThan(40);
  expect(answers.map((line) => line.task_id)).toEqual(
    many.slice(0, answers.length).map((line) => line.task_id),
  );
});
