import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { sampleBlame } from '@gaia-mesh/evaluation/blame/testing/sample-blame.ts';
import { makeStacksFile } from '@gaia-mesh/evaluation/compare/stacks/testing/sample-stacks.ts';
import { beforeAll, describe, expect, test } from 'vitest';
import { callCli } from '../../testing/call-cli.ts';
import { temporaryFolder } from '../../testing/cli.ts';
import { readMetrics } from '../../testing/run-files.ts';
import { writtenFile } from '../../testing/team-file.ts';

/** A run of the default team, and its page. */
const out = temporaryFolder();
const archive = path.join(out, 'run_artifacts.tar.gz');
const page = path.join(out, 'report.html');

beforeAll(async () => {
  const run = await callCli(['bench', '--port-base', 'auto', '--out', out, '--quiet']);
  expect(run.code, run.stderr).toBe(0);
});

describe('report', () => {
  test('writes a page whose figures are those of the run', async () => {
    const { code, stdout, stderr } = await callCli(['report', archive, '--out', page]);
    expect([code, stdout], stderr).toEqual([0, `${page}\n`]);
    expect(stderr).toMatch(/^written: \d+ kB\n$/);

    const metrics = readMetrics(out);
    const elements = [
      ...readFileSync(page, 'utf8').matchAll(/<script type="application\/json" id="\w+">(.*?)<\/script>/gs),
    ];
    const [{ run }, details] = elements.map(([, json = '']) => JSON.parse(json));
    // A page that is passed on names no folder of the machine.
    expect(run.made.command).toMatch(/^npm run bench -- --port-base auto(?: --[\w-]+(?: [^/]\S*)?)*$/);
    expect(run.metrics).toMatchObject({ run_id: metrics.run_id, answer: metrics.answer });
    const { packets } = run.traffic;
    expect(packets).toHaveLength(metrics.ledger.total.packets);
    expect(JSON.parse(details.at(-1))).toMatchObject({ payload: { answer: metrics.answer } });
    expect(packets.at(-1).tag).toBe('final_answer');
    expect(packets.at(-1).atMs).toBeCloseTo((metrics.time_us?.total ?? 0) / 1000, 0);
  });

  test.each([
    [['nowhere.tar.gz'], 'there is no such file'],
    [['nowhere.json'], 'there is no such file'],
    [['a.tar.gz', 'b.tar.gz'], 'too many arguments'],
  ])('refuses %j with 2 and writes nothing', async (args, reason) => {
    const file = path.join(temporaryFolder(), 'page.html');

    const { code, stderr } = await callCli(['report', ...args, '--out', file]);

    expect(code).toBe(2);
    expect(stderr).toContain(reason);
    expect(existsSync(file)).toBe(false);
  });

  test('of a comparison of stacks is its page', async () => {
    const stacks = makeStacksFile([
      { name: 'mesh/json', factor: 1 },
      { name: 'a2a/jsonrpc', factor: 3 },
    ]);
    const folder = temporaryFolder();
    const file = writtenFile(folder, 'comparison.json', JSON.stringify(stacks));
    const html = path.join(folder, 'stacks.html');

    const { code, stderr } = await callCli(['report', file, '--out', html]);

    expect(code, stderr).toBe(0);
    expect(readFileSync(html, 'utf8')).toContain('"sentence":"a2a/jsonrpc bare is slower than ');
  });

  test('of findings of blame is their page', async () => {
    const folder = temporaryFolder();
    const file = writtenFile(folder, 'blame.json', JSON.stringify(sampleBlame()));
    const html = path.join(folder, 'page.html');

    const { code, stderr } = await callCli(['report', file, '--out', html]);

    expect(code, stderr).toBe(0);
    expect(readFileSync(html, 'utf8')).toContain('"headline":"Message 3 made the answer wrong');
  });

  test('of a file that is no result says what was expected', async () => {
    const file = writtenFile(temporaryFolder(), 'comparison.json', '{"schema_version": 3}');

    const { code, stderr } = await callCli(['report', file]);

    expect(code).toBe(2);
    expect(stderr).toContain(
      'expected an archive of a run, comparison.json, blame.json, or the answers of a batch',
    );
  });
});
