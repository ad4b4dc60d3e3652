import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CACHE_FOLDER } from './agents/launcher.ts';
import { markWorkspaces, RunFolder } from './run-folder.ts';

let out = '';
beforeEach(() => {
  out = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-out-'));
});
afterEach(() => rmSync(out, { recursive: true, force: true }));

const NOBODY: ReadonlySet<string> = new Set();
const runId = (second: number) => `20260101-0000${String(second).padStart(2, '0')}-abcdef`;
const inWorkspaces = (...names: string[]) => path.join(out, 'workspaces', ...names);
const LOCK = () => inWorkspaces('.lock');

/** A run that leaves results. */
async function finishRun(id: string): Promise<void> {
  const folder = await RunFolder.open(out, id, NOBODY);
  writeFileSync(folder.metricsFile, id);
  writeFileSync(folder.archiveFile, id);
  mkdirSync(inWorkspaces('0'), { recursive: true });
  writeFileSync(inWorkspaces('0', 'agent.log'), id);
  folder.release();
}

describe('the folder of a run', () => {
  test('is made with its parents and locked until it is released', async () => {
    out = path.join(out, 'some', 'where');
    const folder = await RunFolder.open(out, runId(1), NOBODY);

    expect(readFileSync(LOCK(), 'utf8')).toBe(`${process.pid}\n`);
    folder.release();
    expect(existsSync(LOCK())).toBe(false);
    out = path.dirname(path.dirname(out));
  });

  test('may be one that an agent started by hand was the first to write to', async () => {
    markWorkspaces(inWorkspaces());
    mkdirSync(inWorkspaces('2'));

    const folder = await RunFolder.open(out, runId(1), NOBODY);

    expect(existsSync(inWorkspaces('2'))).toBe(false);
    folder.release();
  });

  test('moves no earlier results through a link in runs/', async () => {
    const home = path.join(out, 'home');
    mkdirSync(home);
    writeFileSync(path.join(home, 'metrics.json'), 'years of work');
    mkdirSync(inWorkspaces(), { recursive: true });
    writeFileSync(inWorkspaces('.gaia-mesh'), `${runId(1)}\n`);
    mkdirSync(path.join(out, 'runs'));
    symlinkSync('../home', path.join(out, 'runs', runId(1)));
    writeFileSync(path.join(out, 'metrics.json'), '{}');

    const fault = await RunFolder.open(out, runId(2), NOBODY).then(() => 'none', String);

    expect(readFileSync(path.join(home, 'metrics.json'), 'utf8')).toBe('years of work');
    expect(fault).toContain(`${path.join(out, 'runs', runId(1))} is a link`);
    expect(existsSync(LOCK())).toBe(false);
  });

  test('is emptied without following links out of it', async () => {
    const home = path.join(out, 'home');
    mkdirSync(path.join(home, CACHE_FOLDER), { recursive: true });
    writeFileSync(path.join(home, 'thesis.txt'), 'years of work');
    markWorkspaces(inWorkspaces());
    symlinkSync('../home', inWorkspaces('notes'));
    mkdirSync(inWorkspaces('0'));
    symlinkSync('../../home', inWorkspaces('0', CACHE_FOLDER));

    const folder = await RunFolder.open(out, runId(1), NOBODY);

    expect(readdirSync(inWorkspaces()).sort()).toEqual(['.gaia-mesh', '.lock']);
    expect(readFileSync(path.join(home, 'thesis.txt'), 'utf8')).toBe('years of work');
    expect(existsSync(path.join(home, CACHE_FOLDER))).toBe(true);
    folder.release();
  });

  test.each([
    ['workspaces', '../home'],
    ['workspaces/.gaia-mesh', '../home/thesis.txt'],
    ['metrics.json', 'home/thesis.txt'],
    ['metrics.json.part', 'home/thesis.txt'],
    ['run_artifacts.tar.gz.part', 'home/not-there-yet'],
    ['results.jsonl', 'home/thesis.txt'],
    ['runs', 'home'],
  ])('is refused where %s is a link, which a run would write through', async (name, target) => {
    const home = path.join(out, 'home');
    mkdirSync(home);
    writeFileSync(path.join(home, 'thesis.txt'), 'years of work');
    if (name !== 'workspaces') markWorkspaces(inWorkspaces());
    rmSync(path.join(out, name), { force: true, recursive: true });
    symlinkSync(target, path.join(out, name));

    await expect(RunFolder.open(out, runId(1), NOBODY)).rejects.toMatchObject({
      code: 'io',
      message: expect.stringContaining(`${path.join(out, name)} is a link`),
    });
    expect(readdirSync(home)).toEqual(['thesis.txt']);
    expect(readFileSync(path.join(home, 'thesis.txt'), 'utf8')).toBe('years of work');
  });

  test.each([
    ['a file', 'thesis.txt'],
    ['a folder', path.join('thesis', 'chapter-1.txt')],
  ])('is refused where %s of the user’s lies beside our marker, and left as it is', async (_what, name) => {
    await finishRun(runId(1));
    mkdirSync(path.dirname(inWorkspaces(name)), { recursive: true });
    writeFileSync(inWorkspaces(name), 'years of work');

    await expect(RunFolder.open(out, runId(2), NOBODY)).rejects.toMatchObject({
      code: 'io',
      message: expect.stringContaining('thesis'),
    });

    expect(readFileSync(inWorkspaces(name), 'utf8')).toBe('years of work');
    expect(readFileSync(path.join(out, 'metrics.json'), 'utf8')).toBe(runId(1));
    rmSync(inWorkspaces(name.split(path.sep)[0] ?? ''), { recursive: true });
    (await RunFolder.open(out, runId(2), NOBODY)).release();
  });

  test('is not made ours by an agent when somebody else has files there', async () => {
    mkdirSync(inWorkspaces('theirs'), { recursive: true });
    markWorkspaces(inWorkspaces());

    await expect(RunFolder.open(out, runId(1), NOBODY)).rejects.toMatchObject({ code: 'io' });
    expect(existsSync(inWorkspaces('theirs'))).toBe(true);
  });

  test('is refused while a living process has it', async () => {
    await RunFolder.open(out, runId(1), NOBODY);

    await expect(RunFolder.open(out, runId(2), NOBODY)).rejects.toMatchObject({
      code: 'locked',
      message: expect.stringContaining(`process ${process.pid}`),
    });
  });

  test('is taken over from a process that has died', async () => {
    const { pid } = spawnSync(process.execPath, ['--version']);
    await finishRun(runId(1));
    writeFileSync(LOCK(), `${pid}\n`);

    const folder = await RunFolder.open(out, runId(2), NOBODY);

    expect(readFileSync(LOCK(), 'utf8')).toBe(`${process.pid}\n`);
    folder.release();
  });

  test.each(['', 'nonsense', '0', '-1'])('is taken over when its lock says %j', async (text) => {
    await finishRun(runId(1));
    writeFileSync(LOCK(), text);

    (await RunFolder.open(out, runId(2), NOBODY)).release();
  });

  test('is had by one of many that ask at once', async () => {
    const attempts = await Promise.allSettled(
      Array.from({ length: 8 }, (_, i) => RunFolder.open(out, runId(i), NOBODY)),
    );

    expect(attempts.filter((attempt) => attempt.status === 'fulfilled')).toHaveLength(1);
  });

  test('is emptied, and what the last run left is in runs/', async () => {
    await finishRun(runId(1));
    await finishRun(runId(2));

    expect(readFileSync(path.join(out, 'metrics.json'), 'utf8')).toBe(runId(2));
    expect(readdirSync(path.join(out, 'runs'))).toEqual([runId(1)]);
    expect(readFileSync(path.join(out, 'runs', runId(1), 'metrics.json'), 'utf8')).toBe(runId(1));
    expect(readFileSync(inWorkspaces('0', 'agent.log'), 'utf8')).toBe(runId(2));
    await RunFolder.open(out, runId(3), NOBODY);
    expect(existsSync(inWorkspaces('0'))).toBe(false);
  });

  test('keeps the ten runs before the newest, and what else is in runs/', async () => {
    mkdirSync(path.join(out, 'runs', '0-my-own'), { recursive: true });
    for (let i = 1; i <= 13; i++) await finishRun(runId(i));

    const kept = Array.from({ length: 10 }, (_, i) => runId(i + 3));
    expect(readdirSync(path.join(out, 'runs')).sort()).toEqual(['0-my-own', ...kept]);
  });

  test('keeps results that no run of ours left', async () => {
    writeFileSync(path.join(out, 'metrics.json'), 'mine');
    await finishRun(runId(1));
    await finishRun(runId(2));

    expect(readFileSync(path.join(out, 'runs', `before-${runId(1)}`, 'metrics.json'), 'utf8')).toBe('mine');
  });

  test('is refused when its workspaces/ is somebody else’s', async () => {
    mkdirSync(inWorkspaces('src'), { recursive: true });

    await expect(RunFolder.open(out, runId(1), NOBODY)).rejects.toMatchObject({
      code: 'io',
      message: expect.stringContaining('choose another folder for the results'),
    });
    expect(readdirSync(inWorkspaces())).toEqual(['src']);
  });

  test('leaves the workspaces of agents that were started by hand alone', async () => {
    mkdirSync(inWorkspaces('2'), { recursive: true });
    writeFileSync(inWorkspaces('2', 'agent.log'), 'running');

    (await RunFolder.open(out, runId(1), new Set(['2']))).release();
    (await RunFolder.open(out, runId(2), new Set(['2']))).release();

    expect(readFileSync(inWorkspaces('2', 'agent.log'), 'utf8')).toBe('running');
  });

  test('keeps the code that Node compiled for an agent', async () => {
    mkdirSync(inWorkspaces('0', CACHE_FOLDER), { recursive: true });
    await RunFolder.open(path.join(out), runId(1), new Set(['0'])).then((folder) => folder.release());
    writeFileSync(inWorkspaces('0', 'note.txt'), '');

    (await RunFolder.open(out, runId(2), NOBODY)).release();

    expect(readdirSync(inWorkspaces('0'))).toEqual([CACHE_FOLDER]);
  });

  test('is refused by name when it cannot be made', async () => {
    writeFileSync(path.join(out, 'file'), '');

    await expect(RunFolder.open(path.join(out, 'file'), runId(1), NOBODY)).rejects.toMatchObject({
      code: 'io',
      message: expect.stringContaining('choose another folder for the results'),
    });
  });
});
