import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { attemptSchema } from '@gaia-mesh/evaluation/attempts/attempt.ts';
import { readArchivedRun } from '@gaia-mesh/evaluation/report/run/archived-run.ts';
import { buildRunData } from '@gaia-mesh/evaluation/report/run/run-data.ts';
import { listenOnPlace } from '@gaia-mesh/stacks/listen.ts';
import { describe, expect, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { type CliResult, jsonLines, temporaryFolder } from '../../testing/cli.ts';
import { RawAgent } from '../../testing/raw-agent.ts';
import { readMetrics, summarySchema } from '../../testing/run-files.ts';
import { taskFile, teamFile, writtenFile } from '../../testing/team-file.ts';

const LONG = `${'The river ran on past the old mill and the quiet fields. '.repeat(4_500)}Ida Lund found the key.`;

describe('the default team on a file of tasks', () => {
  test('answers each on live agents: unicode, a quarter of a megabyte, no answer known, no document', async () => {
    const out = temporaryFolder();
    const document = 'Zoë Müller 🏁 won the race in Tromsø in 1921. 東京 was second. It rained.';
    const tasks = taskFile([
      {
        task_id: 'race-1',
        question: 'Who won the race?',
        document,
        answer: 'Zoë Müller',
        aliases: ['Müller'],
      },
      {
        task_id: 'race-2',
        question: 'When was the race? 🏁',
        document,
        answer: 1921,
        level: 2,
        source: 'test / x',
      },
      { task_id: 'open-1', question: 'Who was second?', document },
      { task_id: 'long-1', question: 'Who found the key?', document: LONG },
      { task_id: 'cat', question: '¿Dónde está 🐈?', document: `El 🐈 está en Tromsø. ${'🐈'.repeat(401)}` },
    ]);

    const { code, stdout, stderr } = await callCli([
      ...['bench', '--tasks', tasks, '--concurrency', '3', '--port-base', 'auto', '--out', out, '--json'],
    ]);

    expect([code, stderr]).toEqual([0, expect.stringContaining('5/5 tasks, 5 answered')]);
    const results = jsonLines(path.join(out, 'results.jsonl')).map((line) => attemptSchema.parse(line));
    expect(results.map((result) => result.task_id).sort()).toEqual([
      'cat',
      'long-1',
      'open-1',
      'race-1',
      'race-2',
    ]);
    for (const result of results) expect(result).toMatchObject({ status: 'answered', pkt_cnt: 4 });
    const of = (id: string) => results.find((result) => result.task_id === id);
    expect(of('race-1')).toMatchObject({ truth: 'Zoë Müller', f1: expect.any(Number) });
    expect(of('race-2')).toMatchObject({ truth: '1921' });
    expect(of('open-1')).toMatchObject({
      truth: null,
      exact_match: null,
      rouge_l: null,
      quality_score: null,
      normalized_em: null,
      f1: null,
    });
    expect(of('long-1')?.bytes_tx).toBeGreaterThan(4 * LONG.length);

    const summary = summarySchema.parse(JSON.parse(stdout));
    expect(summary).toMatchObject({ tasks: 5, answered: 5, timeout: 0, failed: 0, balanced: true });
    expect(Object.keys(summary.by_part).sort()).toEqual(['2', 'cat', 'long', 'open', 'race', 'test']);
    expect(summary.by_part.race).toMatchObject({ tasks: 2, answered: 2 });
    expect(summary.by_part.open).toMatchObject({ tasks: 1, normalized_em: null, f1: null, rouge_l: null });

    // The sums of a batch are the sums of its tasks.
    const metrics = readMetrics(out);
    expect(metrics).toMatchObject({ status: 'answered', answer: null, tasks: 5, answered: 5, pkt_cnt: 20 });
    for (const key of ['bytes_tx', 'bytes_rx', 'pkt_cnt', 'token_sum'] as const) {
      expect(results.reduce((sum, result) => sum + result[key], 0)).toBe(metrics[key]);
      expect(summary[key]).toBe(metrics[key]);
    }
    expect(metrics.f1).toBeCloseTo(((of('race-1')?.f1 ?? 0) + (of('race-2')?.f1 ?? 0)) / 2, 12);

    // What travelled is in the log as it is, not escaped.
    const log = readFileSync(path.join(out, 'workspaces', '0', 'agent.log'), 'utf8');
    expect(log).toContain('Zoë Müller 🏁 won the race in Tromsø');
  });
});

describe('a file of tasks', () => {
  /** Runs tasks with one agent of the test's own, which answers `yes` unless the task's id says otherwise. */
  async function benchOf(tasks: string, args: readonly string[] = [], out = temporaryFolder()) {
    const agent = await RawAgent.listen({
      id: '3',
      tool: 'reason',
      onPacket: (packet, self) => !packet.task_id.startsWith('silent') && self.answer(packet, 'yes'),
    });
    const team = teamFile({ final: 3, agents: [agent.entry] });
    const result = await callCli([
      ...['bench', '--team', team, '--external', '3', '--out', out, '--tasks', tasks, ...args],
    ]);
    return { ...result, out, received: agent.received };
  }

  const yesNo = (ids: readonly string[]) =>
    ids.map((task_id) => ({ task_id, question: 'Is it?', document: 'It is.', answer: 'yes' }));

  test('is read in order and printed as a table with its DONE line', async () => {
    const { code, stdout, stderr, out, received } = await benchOf(
      taskFile(yesNo(Array.from({ length: 20 }, (_, i) => `part-${i}`))),
      ['--concurrency', '1'],
    );

    expect(code).toBe(0);
    expect(received.map((packet) => packet.task_id)).toEqual(
      Array.from({ length: 20 }, (_, i) => `part-${i}`),
    );
    expect(stdout).toMatch(/all +20 +20 +100\.0 % +\S+–100\.0 % +100\.0 % +100\.0 %/);
    expect(stdout).toMatch(/✅ DONE → See .*results\.jsonl, .*metrics\.json and .*run_artifacts\.tar\.gz\n$/);
    expect(stderr).toContain('20/20 tasks, 20 answered');
    expect(jsonLines(path.join(out, 'results.jsonl'))).toHaveLength(20);
  });

  test('shows wrong answers with question and truth, names the file of results, and the page has them all', async () => {
    const tasks = Array.from({ length: 3 }, (_, i) => ({
      task_id: `t-${i}`,
      question: 'When was the mill built?',
      answer: i === 0 ? '1804' : '1999',
      document: 'The mill was built in 1804. It burned down later.',
    }));
    const out = temporaryFolder();
    const args = ['bench', '--tasks', taskFile(tasks), '--port-base', 'auto', '--out', out];
    const { code, stdout, stderr } = await callCli(args);
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/Wrong answers: 2\n {2}t-1\n {4}question {2}When was the mill built\?/);
    expect(stdout).toMatch(/truth {5}1999\n {4}answer {4}1804/);
    expect(stdout).toMatch(/See \S*results\.jsonl/);

    const run = await readArchivedRun(path.join(out, 'run_artifacts.tar.gz'));
    const { results, tasks: shown } = buildRunData(run);
    expect(results.map(({ normalized_em, truth }) => [normalized_em, truth])).toEqual([
      [1, '1804'],
      [0, '1999'],
      [0, '1999'],
    ]);
    expect(shown.map(({ question }) => question)).toEqual(Array(3).fill('When was the mill built?'));
  });

  test('starts no agent when the server of the model does not answer, and says so', async () => {
    const tasks = Array.from({ length: 12 }, (_, i) => ({
      task_id: `t-${i}`,
      question: 'When?',
      answer: '1804',
      document: 'The mill was built in 1804.',
    }));
    // Nobody listens there any more.
    const server = createServer();
    const port = await listenOnPlace(server, { port: 0 });
    server.close();
    const out = temporaryFolder();
    const { code, stdout, stderr } = await callCli([
      ...['bench', '--team', 'single', '--tasks', taskFile(tasks), '--port-base', 'auto', '--out', out],
      ...['--concurrency', '1'],
      ...['--engine', 'ollama', '--model', 'none', '--host', `http://127.0.0.1:${port}`],
    ]);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      /127\.0\.0\.1:\d+.*; --engine extractive needs no model\. No agent was started and nothing was asked/s,
    );
    expect(readdirSync(out)).toEqual([]);
  });

  test('that the cache answers is answered in metrics.json, too, and moves no byte', async () => {
    const folder = temporaryFolder();
    const document = 'The mill was built in 1804. It burned down later.';
    const lines = ['When was the mill built?', 'What was built in 1804?'].map((question, index) => ({
      task_id: `t-${index}`,
      question,
      document,
      answer: '1804',
    }));
    const store = path.join(folder, 'store', 'answers.sqlite');
    const args = [
      'bench',
      '--team',
      'single',
      '--tasks',
      taskFile(lines),
      '--cache',
      '--store',
      store,
      '--port-base',
      'auto',
    ];
    const first = await callCli([...args, '--out', path.join(folder, 'a')]);
    expect(first.code, first.stderr).toBe(0);

    const { code, stdout, stderr } = await callCli([...args, '--out', path.join(folder, 'b')]);

    expect(code, stderr).toBe(0);
    const { tasks, answered, normalized_em, token_sum, pkt_cnt } = readMetrics(path.join(folder, 'a'));
    expect(stdout).toContain(
      '2 of 2 answers are from the cache and took nothing in this run. When they were',
    );
    expect(stdout).toContain(`${token_sum} tokens, $0.0000, ${pkt_cnt} packets, `);
    expect(readMetrics(path.join(folder, 'b'))).toMatchObject({
      status: 'answered',
      tasks,
      answered,
      normalized_em,
      pkt_cnt: 0,
      bytes_tx: 0,
      ledger: { balanced: true },
    });
    expect(jsonLines(path.join(folder, 'b', 'results.jsonl')).map(({ cached }) => cached)).toEqual([
      true,
      true,
    ]);
  });

  test('is cut by --limit', async () => {
    const { code, stdout } = await benchOf(taskFile(yesNo(['a', 'b', 'c'])), ['--limit', '2', '--json']);

    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ tasks: 2, answered: 2 });
  });

  test('has as many tasks on their way as --concurrency says', async () => {
    let open: Packet[] = [];
    let mostOpen = 0;
    // Answers seven at a time, once it has had time to hear of an eighth.
    const agent = await RawAgent.listen({
      id: '3',
      tool: 'reason',
      onPacket: (packet, self) => {
        open.push(packet);
        mostOpen = Math.max(mostOpen, open.length);
        if (open.length !== 7) return;
        setImmediate(() => {
          for (const waiting of open) self.answer(waiting, 'yes');
          open = [];
        });
      },
    });
    const tasks = taskFile(yesNo(Array.from({ length: 28 }, (_, i) => `t-${i}`)));

    const { code } = await callCli([
      ...['bench', '--team', teamFile({ final: 3, agents: [agent.entry] }), '--external', '3'],
      ...['--tasks', tasks, '--concurrency', '7', '--timeout', '20', '--out', temporaryFolder()],
    ]);

    expect([code, mostOpen]).toEqual([0, 7]);
  });

  test('with a task that nobody answers goes on with the others, counts it as wrong and exits with 3', async () => {
    // The time is every task's: on a busy machine the others must be answered within it.
    const { code, stdout, stderr, out } = await benchOf(taskFile(yesNo(['a-1', 'silent-1', 'a-2'])), [
      '--timeout',
      '5',
      '--json',
    ]);

    expect(code).toBe(3);
    expect(stderr).toMatch(
      /Run timed out\. Partial results: .*\. To ask all again: .* --timeout 5 --json\n$/,
    );
    expect(JSON.parse(stdout)).toMatchObject({ tasks: 3, answered: 2, timeout: 1, f1: 2 / 3 });
    expect(jsonLines(path.join(out, 'results.jsonl'))).toContainEqual(
      expect.objectContaining({ task_id: 'silent-1', status: 'timeout', answer: null, quality_score: 0 }),
    );
  });

  test('without any answer says how to ask again, beside JSON, too', async () => {
    const { code, stdout, stderr } = await benchOf(taskFile(yesNo(['silent-1'])), [
      '--timeout',
      '1',
      '--json',
    ]);

    expect([code, JSON.parse(stdout)]).toMatchObject([3, { answered: 0, timeout: 1 }]);
    expect(stderr).toMatch(/Run timed out\. Partial results: .*\. To ask again: .* --timeout 1 --json\n$/);
  });

  test('scores with --scorer as well', async () => {
    const { out } = await benchOf(taskFile(yesNo(['a'])), ['--scorer', 'gaia']);

    expect(jsonLines(path.join(out, 'results.jsonl'))[0]).toMatchObject({ f1: 1, scores: { correct: 1 } });
  });

  test('is about the document beside it where a line has none', async () => {
    const tasks = taskFile([{ task_id: 'a', question: 'Is it?' }]);
    writtenFile(path.dirname(tasks), 'document.txt', 'It is, 🏁.');

    const { code, received } = await benchOf(tasks);

    expect(code).toBe(0);
    expect(received[0]?.payload).toEqual({ question: 'Is it?', chunks: ['It is, 🏁.'] });
  });

  test('with Windows line ends, empty lines and a byte order mark is read', async () => {
    const lines = yesNo(['a', 'b']).map((task) => JSON.stringify(task));
    const tasks = writtenFile(temporaryFolder(), 'tasks.jsonl', `\uFEFF${lines.join('\r\n\r\n')}\r\n`);

    const { code, stdout } = await benchOf(tasks, ['--json']);

    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ tasks: 2, answered: 2 });
  });

  describe('beside the results of an earlier run', () => {
    const out = temporaryFolder();
    let earlier: ReturnType<typeof benchOf> | undefined;

    test.each([
      ['a line that is no JSON', '{"task_id":"b",', ':2', 'not JSON'],
      ['a line that is no object', '[1]', ':2', 'expected object'],
      ['a line without a question', '{"task_id":"b","document":"d"}', ':2', 'question'],
      ['a line without a task_id', '{"question":"q","document":"d"}', ':2', 'task_id'],
      ['a task_id that is there twice', '{"task_id":"a","question":"q","document":"d"}', ':2', 'line 1'],
      ['a line without a document anywhere', '{"task_id":"b","question":"q"}', ':2', 'document.txt'],
      [
        'a task_id with half a character',
        '{"task_id":"\\ud800","question":"q","document":"d"}',
        ':2',
        'task_id',
      ],
      [
        'an answer that is no text',
        '{"task_id":"b","question":"q","document":"d","answer":{}}',
        ':2',
        'answer',
      ],
    ])('with %s is refused by its number before anything starts; earlier results stay', async (...row) => {
      const [, line, place, message] = row;
      earlier ??= benchOf(taskFile(yesNo(['earlier'])), [], out);
      expect((await earlier).code).toBe(0);
      const before = readFileSync(path.join(out, 'metrics.json'), 'utf8');
      const good = JSON.stringify(yesNo(['a'])[0]);
      const tasks = writtenFile(temporaryFolder(), 'bad.jsonl', `${good}\n${line}\n`);

      const { code, stdout, stderr, received } = await benchOf(tasks, [], out);

      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toContain(`${tasks}${place}`);
      expect(stderr).toContain(message);
      expect(received).toEqual([]);
      expect(readFileSync(path.join(out, 'metrics.json'), 'utf8')).toBe(before);
      expect(jsonLines(path.join(out, 'results.jsonl'))).toHaveLength(1);
      expect(existsSync(path.join(out, 'runs'))).toBe(false);
    });
  });

  test.each([
    ['that is empty', '', 'no task'],
    ['without ids', '{"question":"Who?"}', 'task_id: it is missing; expected string or number'],
    [
      'with a truth as an id',
      '{"task_id":true,"question":"Who?"}',
      'task_id: expected string or number, got boolean',
    ],
    [
      'without a question',
      '{"task_id":"a","qestion":"Who?"}',
      'question: it has neither Question nor question',
    ],
    ['that is not UTF-8', Buffer.from([0x7b, 0xff, 0xfe]), 'not UTF-8'],
  ])('%s is refused', async (_what, content, message) => {
    const tasks = writtenFile(temporaryFolder(), 'tasks.jsonl', content);

    const { code, stderr } = await benchOf(tasks);

    expect(code).toBe(2);
    expect(stderr).toContain(tasks);
    expect(stderr).toContain(message);
  });

  test('that is missing is named', async () => {
    const file = path.join(temporaryFolder(), 'nowhere.jsonl');

    expect(await benchOf(file)).toMatchObject({
      code: 2,
      stderr: `gaia-mesh: task file ${file}: there is no such file\n`,
    } satisfies Partial<CliResult>);
  });
});
