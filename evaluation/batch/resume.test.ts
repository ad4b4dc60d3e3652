import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Random } from '@gaia-mesh/core/system/random.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const child = fileURLToPath(new URL('./testing/batch-child.ts', import.meta.url));

let folder = '';
const running = new Set<ChildProcess>();
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'gaia-mesh-resume-'));
});
// If a test ends before its process, the process still writes to the folder.
afterEach(async () => {
  const ends = [...running].map((process) => once(process, 'close'));
  for (const process of running) process.kill('SIGKILL');
  await Promise.all(ends);
  rmSync(folder, { recursive: true, force: true });
});

function questions(count: number): string[] {
  const ids = Array.from({ length: count }, (_, i) => `q-${i}`);
  const lines = ids.map((id) =>
    JSON.stringify({ task_id: id, question: `What is ${id}?`, answer: `answer of ${id}`, level: 1 }),
  );
  writeFileSync(path.join(folder, 'questions.jsonl'), lines.join('\n'));
  return ids;
}

/** Runs a batch to its end, or kills it `afterMs` milliseconds after its event number `events`. */
async function batch(
  args: readonly (string | number)[],
  { nodeArgs = [], kill }: { nodeArgs?: readonly string[]; kill?: { events: number; afterMs: number } } = {},
): Promise<{ code: number | null; signal: NodeJS.Signals | null; stderr: string }> {
  const process_ = spawn(process.execPath, [...nodeArgs, child, folder, ...args.map(String)], {
    stdio: 'pipe',
  });
  running.add(process_);
  let events = 0;
  let stderr = '';
  process_.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  process_.stdout.setEncoding('utf8').on('data', (text: string) => {
    const before = events;
    events += text.split('\n').length - 1;
    if (kill !== undefined && before < kill.events && events >= kill.events)
      setTimeout(() => process_.kill('SIGKILL'), kill.afterMs);
  });
  return new Promise((resolve, reject) => {
    process_.once('error', reject);
    process_.once('close', (code, signal) => {
      running.delete(process_);
      resolve({ code, signal, stderr });
    });
  });
}

const text = (name: string) => readFileSync(path.join(folder, name), 'utf8');
const wholeLines = (content: string) => content.split('\n').slice(0, -1);

/** Returns the ids of asked questions, without a last one that was cut off. */
function askedSoFar(): string[] {
  return existsSync(path.join(folder, 'asked')) ? wholeLines(text('asked')) : [];
}

/** Ids whose results are whole lines of the journal. */
function finished(): Set<string> {
  if (!existsSync(path.join(folder, 'journal'))) return new Set();
  return new Set(wholeLines(text('journal')).map((line) => String(JSON.parse(line).task_id)));
}

describe('a batch that is killed with SIGKILL', () => {
  test('again and again at random moments ends with the answers of one that was not, and asks nothing twice that was finished', async () => {
    const seed = Date.now() % 2 ** 31;
    const random = new Random(seed);
    const ids = questions(60);
    expect((await batch([2000, 4])).code).toBe(0);
    const answers = text('answers.jsonl');
    const summary = text('summary.json');
    for (const name of ['answers.jsonl', 'summary.json', 'journal', 'asked']) rmSync(path.join(folder, name));

    let kills = 0;
    let done = new Set<string>();
    for (let tries = 0; tries < 4; tries++) {
      const kill = { events: 1 + random.integer(20), afterMs: random.uniform() * 4 };
      const before = askedSoFar().length;
      const { signal, stderr } = await batch([2000, 4], { kill });
      if (signal === 'SIGKILL') kills += 1;
      else expect(stderr, `seed ${seed}`).toBe('');
      const asked = askedSoFar().slice(before);
      expect(
        asked.filter((id) => done.has(id)),
        `seed ${seed}`,
      ).toEqual([]);
      // No finished result is lost.
      const now = finished();
      expect(
        [...done].filter((id) => !now.has(id)),
        `seed ${seed}`,
      ).toEqual([]);
      done = now;
    }
    expect(kills, `seed ${seed}`).toBeGreaterThanOrEqual(2);

    expect((await batch([2000, 4])).code).toBe(0);
    expect(text('answers.jsonl'), `seed ${seed}`).toBe(answers);
    expect(text('summary.json'), `seed ${seed}`).toBe(summary);
    expect(wholeLines(answers).map((line) => JSON.parse(line).task_id)).toEqual(ids);
  });
});

describe('a batch of 150 questions', () => {
  test('whose answers take 48 MB runs in a heap of 40 MB, and writes them in input order (REQ-074, REQ-082)', async () => {
    const ids = questions(150);

    const { code, stderr } = await batch([320_000, 8], { nodeArgs: ['--max-old-space-size=40'] });

    expect([code, stderr]).toEqual([0, '']);
    expect(text('answers.jsonl').length).toBeGreaterThan(48_000_000);
    const order = [...text('answers.jsonl').matchAll(/^\{"task_id":"([^"]+)"/gm)].map((match) => match[1]);
    expect(order).toEqual(ids);
    expect(JSON.parse(text('summary.json'))).toMatchObject({ questions: 150, answered: 150, not_asked: 0 });
  });
});
