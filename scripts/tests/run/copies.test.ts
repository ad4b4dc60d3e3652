import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { chooseCopy } from '../../../core/hub/tasks/copies.ts';
import { taskResultSchema } from '../../../evaluation/results/task-result.ts';
import { Cli, jsonLines, runCli, temporaryFolder } from '../../testing/cli.ts';
import { copiedTeam, heardBy, raceAnswers, raceTasks } from '../../testing/copied-team.ts';
import { readMetrics } from '../../testing/run-files.ts';
import { teamFile, writtenFile } from '../../testing/team-file.ts';

/** Copies of agents in whole runs: real processes, real sockets. */

const COPIES = ['2', '2~2'];
const COUNT = 12;

function batch(args: readonly string[], count = COUNT, team = copiedTeam()) {
  const out = temporaryFolder();
  const options = ['--team', team, '--tasks', raceTasks(count), '--port-base', 'auto', '--out', out];
  return { out, run: new Cli(['bench', ...options, ...args]) };
}

function answersIn(out: string) {
  const results = jsonLines(path.join(out, 'results.jsonl')).map((line) => taskResultSchema.parse(line));
  return {
    results,
    answers: Object.fromEntries(results.map(({ task_id, answer }) => [task_id, answer])),
  };
}

/** Task ids of the run in `out`, by the copy that they are for as long as all are there. */
function tasksOf(copy: string, count: number): string[] {
  return Object.keys(raceAnswers(count)).filter((task) => chooseCopy(task, COPIES) === copy);
}

describe('a team with copies of its slowest agent', () => {
  test('answers right, each task by way of one copy, and is replayed with the same bytes', async () => {
    const { out, run } = batch(['--json']);
    const { code, stderr } = await run.ended();

    expect(code, stderr).toBe(0);
    expect(answersIn(out).answers).toEqual(raceAnswers(COUNT));
    for (const copy of COPIES) {
      const heard = heardBy(out, copy);
      expect(heard.size).toBeGreaterThan(0);
      expect([...heard].sort()).toEqual(tasksOf(copy, COUNT).sort());
    }
    const metrics = readMetrics(out);
    expect(metrics.ledger).toMatchObject({ balanced: true, differences: [] });
    expect(metrics.agents.map(({ id, tool }) => `${id} ${tool}`)).toEqual([
      ...['0 search', '1 extract', '2 triple', '2~2 triple', '3 reason'],
    ]);
    // Each copy sent what it was asked for, once a task.
    for (const { id, packets_rx } of metrics.agents) {
      expect(packets_rx, id).toBe(COPIES.includes(id) ? tasksOf(id, COUNT).length : COUNT);
    }
    const documents = jsonLines(path.join(out, 'workspaces', 'hub.log')).filter(
      ({ event }) => event === 'broadcast',
    );
    expect(documents.map(({ recipients }) => recipients)).toEqual(Array(COUNT).fill(4));

    const replay = await runCli(['replay', path.join(out, 'run_artifacts.tar.gz'), '--json']);
    expect(replay.code, replay.stderr).toBe(0);
    for (const { ledger } of JSON.parse(replay.stdout).rounds) {
      expect(ledger.total).toEqual(metrics.ledger.total);
      expect(ledger.written.packets).toBe(metrics.bytes_tx);
      expect(ledger.read.packets).toBe(metrics.bytes_rx);
    }
  });

  test('loses with a copy what that one worked on, by name and at once; later tasks go to the other', async () => {
    const count = 24;
    // What the copy does not hear it cannot answer: its tasks wait until it is killed.
    const faults = ['--faults', 'drop=100%:extract>2~2', '--concurrency', '8', '--timeout', '40'];
    const { out, run } = batch(faults, count);
    await run.says(/\d+\/24 tasks, [1-9]/);
    const log = readFileSync(path.join(out, 'workspaces', 'hub.log'), 'utf8');
    const [, pid] = /"event":"agent_up","id":"2~2".*"pid":(\d+)/.exec(log) ?? [];
    process.kill(Number(pid), 'SIGKILL');
    const { code, stderr } = await run.ended();

    expect(code, stderr).toBe(1);
    expect(stderr).toMatch(/agent 2~2 \(triple\) is gone: it was ended by SIGKILL/);
    const { results } = answersIn(out);
    const failed = results.filter(({ status }) => status !== 'answered');
    expect(failed.length).toBeGreaterThan(0);
    expect(failed.length).toBeLessThanOrEqual(8);
    const theirs = tasksOf('2~2', count);
    for (const { task_id, reason, elapsed_ms } of failed) {
      expect(theirs).toContain(task_id);
      expect(reason).toMatch(/^agent 2~2 \(triple\) is gone, so no answer can come/);
      expect(elapsed_ms).toBeLessThan(40_000);
    }
    for (const { task_id, answer, status } of results) {
      if (status === 'answered') expect(answer).toBe(raceAnswers(count)[task_id]);
    }
    const later = theirs.filter((task) => !failed.some(({ task_id }) => task_id === task));
    expect(later.length).toBeGreaterThan(0);
    expect([...heardBy(out, '2')]).toEqual(expect.arrayContaining(later));
    const { ledger, agents } = readMetrics(out);
    expect(ledger).toMatchObject({ balanced: true, differences: [] });
    expect(agents.filter(({ status }) => status === 'lost').map(({ id }) => id)).toEqual(['2~2']);
    const replay = await runCli(['replay', path.join(out, 'run_artifacts.tar.gz'), '--rounds', '1']);
    expect(replay.code, replay.stderr).toBe(0);
  });

  test('loses nothing with a copy that is started again, where deliveries are acknowledged', async () => {
    const faults = ['--faults', 'stall=3@0s+1s,kill=2~2@500ms', '--restart', 'on-failure'];
    const { out, run } = batch([...faults, '--delivery', 'acknowledged', '--timeout', '40']);
    const { code, stderr } = await run.ended();

    expect(code, stderr).toBe(0);
    expect(stderr).toMatch(/agent 2~2 \(triple\) is back after \d/);
    expect(answersIn(out).answers).toEqual(raceAnswers(COUNT));
    const { ledger, delivery } = readMetrics(out);
    expect(ledger).toMatchObject({ balanced: true, differences: [] });
    expect(delivery).toMatchObject({ undeliverable: 0 });
    for (const copy of COPIES) expect([...heardBy(out, copy)].sort()).toEqual(tasksOf(copy, COUNT).sort());
  });

  test('is a role team, too: what is addressed to an agent goes to the copy that has the task', async () => {
    const folder = temporaryFolder();
    const team = teamFile({
      ...{ name: 'reacting', routing: 'direct', entry: 'react', final: 'react', scorer: 'gaia' },
      agents: [
        { id: 'react', tool: 'react_step', may_call: ['list_files', 'read_file'] },
        { id: 'list_files', tool: 'list_files', may_call: [] },
        { id: 'read_file', tool: 'read_file', may_call: [], copies: 2 },
      ],
    });
    const builders = [
      'Orla Finch',
      'Ada Brook',
      'Per Lind',
      'Ines Ferro',
      'Hugo Stark',
      'Mara Voss',
      'Nils Berg',
      'Rosa Hill',
    ];
    const questions = builders.map((builder, i) => ({
      task_id: `mill-${i}`,
      Question: 'Who built the mill?',
      Level: 1,
      'Final answer': builder,
      file_name: path.basename(
        writtenFile(
          folder,
          `mill-${i}.txt`,
          `The mill was built in 191${i} by ${builder}. It has four floors.`,
        ),
      ),
    }));
    const file = writtenFile(folder, 'q.jsonl', questions.map((line) => JSON.stringify(line)).join('\n'));
    const args = ['gaia', '--team', team, '--questions', file, '--files', folder, '--out', 'a.jsonl'];
    const { code, stderr } = await runCli(args, { cwd: folder });

    expect(code, stderr).toBe(0);
    const replies = jsonLines(path.join(folder, 'a.jsonl'));
    expect(replies.map(({ final_answer }) => final_answer)).toEqual(
      questions.map((question) => question['Final answer']),
    );
    const out = path.join(folder, 'a.runs', 'reacting');
    const heard = ['read_file', 'read_file~2'].map((id) => [...heardBy(out, id)]);
    for (const tasks of heard) expect(tasks.length).toBeGreaterThan(0);
    expect(heard.flat().sort()).toEqual([...heardBy(out, 'react')].sort());
    expect(readMetrics(out).ledger).toMatchObject({ balanced: true, differences: [] });
  });
});

test('a fault that names a tool of copies asks for the id of one', async () => {
  const { run } = batch(['--faults', 'kill=triple@1s']);
  const { code, stderr } = await run.ended();

  expect(code).toBe(2);
  expect(stderr).toContain('agents 2, 2~2 have this tool; name one by its id');
});
