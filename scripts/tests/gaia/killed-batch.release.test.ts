import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '@gaia-mesh/core/system/random.ts';
import { computeMedian } from '@gaia-mesh/evaluation/statistics/inference/quantile.ts';
import { type ModelServerRequest, startModelServer } from '@gaia-mesh/tools/fixtures/model-server.ts';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Cli, isRunning, jsonLines, temporaryFolder } from '../../testing/cli.ts';
import { teamFile, writtenFile } from '../../testing/team-file.ts';

/** Enough to be killed in. What memory does shows with 1,000: `GAIA_MESH_TEST_QUESTIONS=1000 npm run test:release -- killed-batch`. */
const QUESTIONS = Number(process.env.GAIA_MESH_TEST_QUESTIONS ?? 120);
const TIMEOUT_MS = 120_000 + QUESTIONS * 500;
/** What a process that answered so many has loaded and compiled is all that it needs. */
const WARM_QUESTIONS = 200;
const REQUESTS_A_SAMPLE = 20;
/** Of the resident memory between the warm questions and the last ones; what the collector has not yet freed comes and goes. */
const MAX_GROWTH = 0.2;

/** One loop of reasoning and acting, with one tool: a team with a model and a tool in as few processes as there can be. */
const TEAM = {
  name: 'react',
  routing: 'direct',
  entry: 'react',
  final: 'react',
  scorer: 'gaia',
  agents: [
    { id: 'react', tool: 'react_step', may_call: ['calculator'] },
    { id: 'calculator', tool: 'calculator', may_call: [] },
  ],
};

const ids = Array.from({ length: QUESTIONS }, (_, i) => `q-${i}`);

test('a batch whose process is killed at random moments ends, resumed, as one that was not: nothing is lost or asked again, no process stays, memory is flat (REQ-080)', {
  timeout: TIMEOUT_MS,
}, async () => {
  const seed = Date.now() % 2 ** 31;
  const random = new Random(seed);
  const model = await startCountingModel();

  const whole = place(model.url);
  const samples = await memoryOf(whole.start(), model);
  const expected = whole.answers();
  const requests = model.asked.length;
  expect(expected.map(({ task_id }) => task_id)).toEqual(ids);
  expectFlat(samples);

  const killed = place(model.url);
  const processes = new Set<number>();
  let kept: string[] = [];
  // Twice while questions are on their way, and once while the team comes up.
  for (const part of [0.1 + random.uniform() * 0.4, 0.1 + random.uniform() * 0.4, 0]) {
    const asked = model.asked.length;
    const batch = killed.start(...(kept.length > 0 ? ['--resume'] : []));
    const remaining = requests * (1 - finishedIn(kept).length / QUESTIONS);
    if (part > 0) await model.reaches(asked + Math.ceil(part * remaining));
    await sleep(random.uniform() * (part > 0 ? 50 : 1500));
    for (const pid of below(batch.pid)) processes.add(pid);
    batch.signal('SIGKILL');
    expect((await batch.ended()).signal, `seed ${seed}`).toBe('SIGKILL');

    expectNotAsked(kept, model.asked.slice(asked), seed);
    const lines = killed.journalLines();
    expect(lines.slice(0, kept.length), `seed ${seed}`).toEqual(kept);
    kept = lines;
  }
  const asked = model.asked.length;
  const last = killed.start('--resume');
  await model.reaches(asked + QUESTIONS - finishedIn(kept).length);
  expect(await last.ended(), `seed ${seed}`).toMatchObject({ code: 0 });

  expectNotAsked(kept, model.asked.slice(asked), seed);
  expect(killed.journalLines().slice(0, kept.length), `seed ${seed}`).toEqual(kept);
  expect(finishedIn(killed.journalLines()).sort(), `seed ${seed}`).toEqual(ids.toSorted());
  expect(killed.answers(), `seed ${seed}`).toEqual(expected);
  expect(processes.size).toBeGreaterThanOrEqual(2 * TEAM.agents.length);
  await vi.waitFor(() => expect([...processes].filter(isRunning), `seed ${seed}`).toEqual([]), 60_000);
  expect(model.invalid).toEqual([]);
  if (QUESTIONS < WARM_QUESTIONS) return;
  const mb = samples.map(Math.round);
  console.info(`seed ${seed}, ${requests} requests and ${model.asked.length - 2 * requests} again; MB ${mb}`);
});

/** A model that asks the calculator before it answers, but for some questions, which it answers at once and wrongly. */
async function startCountingModel() {
  const asked: string[] = [];
  const waiting = new Set<() => void>();
  const server = await startModelServer((request) => {
    const id = idIn(request);
    asked.push(id);
    for (const look of waiting) look();
    const number = Number(id.slice('q-'.length));
    const last = request.messages.at(-1);
    if (last?.role === 'tool') return { content: `It is ${last.content}.\nFINAL ANSWER: ${last.content}` };
    if (number % 7 === 3) return { content: 'It is about forty.\nFINAL ANSWER: 40' };
    const expression = `${number} * 17 + 4`;
    return { toolCalls: [{ name: 'calculator', arguments: { expression, reason: 'to be sure' } }] };
  });
  onTestFinished(() => server.close());
  return {
    url: `${server.url}/v1`,
    /** The question of each request, in order. */
    asked: asked as readonly string[],
    invalid: server.invalid,
    /** Is called at each request until its result is. */
    onAsked(look: () => void): () => void {
      waiting.add(look);
      return () => waiting.delete(look);
    },
    /** Resolves with the request that makes it so many. */
    reaches(count: number): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      const look = () => {
        if (asked.length >= count) resolve();
      };
      waiting.add(look);
      look();
      return promise.finally(() => waiting.delete(look));
    },
  };
}

type CountingModel = Awaited<ReturnType<typeof startCountingModel>>;

function idIn({ messages }: ModelServerRequest): string {
  const id = /Question (q-\d+):/.exec(messages[1]?.content ?? '')?.[1];
  if (id === undefined) throw new Error(`no question is named in ${messages[1]?.content}`);
  return id;
}

/** A folder with the questions, the command that works on them, and what it leaves there. */
function place(url: string) {
  const folder = temporaryFolder();
  const lines = ids.map((task_id, i) =>
    JSON.stringify({ task_id, question: `Question ${task_id}: what is ${i} * 17 + 4?`, answer: i * 17 + 4 }),
  );
  const args = [
    ...['gaia', '--team', teamFile(TEAM), '--questions', writtenFile(folder, 'q.jsonl', lines.join('\n'))],
    ...['--out', 'a.jsonl', '--no-cache', '--concurrency', '4'],
    ...['--engine', 'openai', '--base-url', url, '--model', 'scripted'],
  ];
  const journal = path.join(folder, 'a.jsonl.journal');
  return {
    start: (...more: string[]) => new Cli([...args, ...more], { cwd: folder }),
    /** Whole lines. */
    journalLines: () => (existsSync(journal) ? readFileSync(journal, 'utf8').split('\n').slice(0, -1) : []),
    /** Without times, and without bytes: ids of packets have fewer digits after a new start. */
    answers: () =>
      jsonLines(path.join(folder, 'a.jsonl')).map(({ seconds: _seconds, bytes: _bytes, ...line }) => line),
  };
}

/** The questions that these lines of a journal have results of. */
function finishedIn(lines: readonly string[]): string[] {
  return lines.map((line) => String(JSON.parse(line).task_id));
}

function expectNotAsked(journal: readonly string[], asked: readonly string[], seed: number): void {
  const finished = new Set(finishedIn(journal));
  expect(
    asked.filter((id) => finished.has(id)),
    `seed ${seed}`,
  ).toEqual([]);
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly residentMb: number;
}

function allProcesses(): Process[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,rss='], { encoding: 'utf8' }).trim().split('\n');
  return lines.map((line) => {
    const [pid = 0, parent = 0, kilobytes = 0] = line.trim().split(/\s+/).map(Number);
    return { pid, parent, residentMb: kilobytes / 1024 };
  });
}

/** A command, its agents, and what they have started. */
function below(pid: number): number[] {
  const all = allProcesses();
  const found = [pid];
  for (const parent of found) for (const child of all) if (child.parent === parent) found.push(child.pid);
  return found;
}

/** Runs a batch to its end. Returns the resident memory of its process while questions are on their way, in MB. */
async function memoryOf(batch: Cli, model: CountingModel): Promise<number[]> {
  const samples: number[] = [];
  const stop = model.onAsked(() => {
    if (model.asked.length % REQUESTS_A_SAMPLE !== 0) return;
    samples.push(allProcesses().find(({ pid }) => pid === batch.pid)?.residentMb ?? 0);
  });
  await model.reaches(Math.floor(QUESTIONS * 1.5));
  const { code, stderr } = await batch.ended();
  stop();
  expect([code, stderr]).toEqual([0, expect.stringContaining(`${QUESTIONS}/${QUESTIONS} questions`)]);
  return samples;
}

function expectFlat(samples: readonly number[]): void {
  const warm = samples.slice(Math.floor((samples.length * WARM_QUESTIONS) / QUESTIONS));
  if (warm.length < 10) return;
  const part = Math.ceil(warm.length / 5);
  const [early, late] = [computeMedian(warm.slice(0, part)), computeMedian(warm.slice(-part))];
  expect(late, `MB of every ${REQUESTS_A_SAMPLE}th request: ${samples.map(Math.round)}`).toBeLessThan(
    early * (1 + MAX_GROWTH),
  );
}
