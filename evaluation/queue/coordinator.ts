import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { QUEUE_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { readUserFile } from '@gaia-mesh/core/system/files/user-file.ts';
import type { Attempt } from '../attempts/attempt.ts';
import { buildAttempt, failAttempt } from '../attempts/build-attempt.ts';
import { type BatchEnd, createBatchEnd, SharedCause } from '../batch/batch.ts';
import type { BatchHead } from '../batch/journal/batch-head.ts';
import { Journal } from '../batch/journal/journal.ts';
import { Spending } from '../batch/limits.ts';
import type { RunContext, TeamEnd } from '../batch/runner.ts';
import type { GaiaOptions, GaiaPlan } from '../plan/gaia-plan.ts';
import { buildBatchHead, type RunPlan } from '../plan/run-plan.ts';
import { findFileFault } from '../questions/place-file.ts';
import type { Question } from '../questions/question.ts';
import { createTaskScorer } from '../scorers/scorer.ts';
import { printError } from '../terminal/print.ts';
import type { AttemptQueue } from './attempt-queue.ts';
import { buildQueuedPlan, planQueuedBatch, type QueuedFile } from './queued-plan.ts';
import { waitOutFaults } from './wait-out-faults.ts';

/** Milliseconds between two looks for results. */
const COLLECT_MS = 300;

type Unfinished = Exclude<BatchEnd, { kind: 'finished' }>;

/**
 * Runs a plan as the `Runner` does, on the machines of workers: queues its attempts, and collects their results into the same journal.
 * It may end at any time; another one collects the batch from the beginning.
 */
export class Coordinator {
  /** Reports a problem that stops nothing, and workers that come and go. */
  onNote: (text: string) => void = printError;
  readonly name: string;
  readonly #plan: RunPlan;
  readonly #queue: AttemptQueue;
  readonly #spending: Spending;
  readonly #cause = new Map<string, SharedCause>();
  /** Results by team, and by worker. */
  readonly #asked = new Map<string, number>();
  readonly #done = new Map<string, number>();
  #journal: Journal | undefined;

  private constructor(name: string, plan: RunPlan, queue: AttemptQueue) {
    this.name = name;
    this.#plan = plan;
    this.#queue = queue;
    this.#spending = new Spending(plan.limits);
  }

  /**
   * Stores a plan with its files, and queues its attempts.
   *
   * @throws MeshError `usage`, naming files that are too large; `store`
   */
  static async start(plan: RunPlan, queue: AttemptQueue): Promise<Coordinator> {
    const stamp = new Date().toISOString().replace(/[-:]/g, '').slice(0, 15);
    const name = `gaia-${stamp}-${randomBytes(2).toString('hex')}`;
    const queued = buildQueuedPlan(plan, await storeFiles(plan, queue));
    await queue.addBatch(name, queued);
    await queue.enqueue(name, queued, 'open');
    return new Coordinator(name, plan, queue);
  }

  /** Continues a batch that was queued before, from any machine. Attempts that a stop left without a result are queued again. */
  static async resume(
    name: string,
    { queue, options }: { readonly queue: AttemptQueue; readonly options: GaiaOptions },
  ): Promise<{ coordinator: Coordinator; plan: GaiaPlan }> {
    const { plan: queued, state } = await queue.readBatch(name);
    if (state === 'cancelled') throw new MeshError('usage', `batch ${name} was cancelled: start another one`);
    const plan = await planQueuedBatch(name, queued, options);
    if (state !== 'finished') await queue.enqueue(name, queued, state);
    return { coordinator: new Coordinator(name, plan, queue), plan };
  }

  get head(): BatchHead {
    return buildBatchHead(this.#plan);
  }

  /** The journal, which is written anew from the database. */
  get journal(): Journal {
    this.#journal ??= Journal.open(this.#plan.paths, this.head, false);
    return this.#journal;
  }

  /** Opens no store: workers do not use the cache of answers of earlier runs. */
  async openStore(): Promise<undefined> {
    return undefined;
  }

  /** Waits for the results. The batch goes on when the wait is interrupted. */
  async run(context: RunContext): Promise<{ teams: ReadonlyMap<string, TeamEnd>; end: BatchEnd }> {
    const startMs = performance.now();
    const end = await this.#collect(context);
    const wallSeconds = (performance.now() - startMs) / 1000;
    const teams = this.#plan.teams.map(({ team }): [string, TeamEnd] => [
      team.name,
      { end, asked: this.#asked.get(team.name) ?? 0, wallSeconds },
    ]);
    for (const [worker, count] of [...this.#done].sort()) this.onNote(`worker ${worker}: ${count} answered`);
    return { teams: new Map(teams), end };
  }

  async close(): Promise<void> {
    this.#journal?.close();
    await this.#queue.close();
  }

  async #collect(context: RunContext): Promise<BatchEnd> {
    const { signal } = context;
    const note = (text: string) => this.onNote(text);
    const { questions, teams, repeat } = this.#plan;
    const total = questions.length * teams.length * repeat;
    const { time } = this.#spending;
    const watch = new WorkerWatch(note);
    let after = 0;
    let end: Unfinished | undefined;
    let refreshMs = Number.NEGATIVE_INFINITY;
    for (;;) {
      const page = await waitOutFaults(() => this.#queue.listResults(this.name, after), note, signal);
      if (page === undefined) return INTERRUPTED;
      for (const { finished, attempt, worker } of page) {
        after = finished;
        const failed = this.#add(attempt, worker, context);
        if (failed === undefined) continue;
        end ??= failed;
        // Only this team stops, since other teams may do better with the same model.
        await this.#queue.dropWaiting(
          this.name,
          teams.findIndex(({ team }) => team.name === attempt.team),
        );
      }
      if (page.length === QUEUE_LIMITS.page) continue;
      if (this.journal.size === total) break;
      if (end?.kind !== 'limit') {
        const reached = this.#spending.reached();
        if (time?.aborted) end = { kind: 'limit', reason: 'the run reached its time limit (--max-time)' };
        else if (reached !== undefined) end = { kind: 'limit', reason: reached, isUsedUp: true };
        // Questions that have begun are finished, because they are paid for.
        if (end?.kind === 'limit')
          for (const index of teams.keys()) await this.#queue.dropWaiting(this.name, index);
      }
      if (performance.now() - refreshMs > QUEUE_LIMITS.refreshMs) {
        refreshMs = performance.now();
        const left = await waitOutFaults(() => this.#look(watch, context), note, signal);
        if (left === undefined) return INTERRUPTED;
        if (left === 0 && page.length === 0 && end !== undefined) break;
      }
      await delay(COLLECT_MS, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return INTERRUPTED;
    }
    await this.#queue.end(this.name, teams.length, end === undefined ? 'finished' : 'stopped');
    return end ?? { kind: 'finished' };
  }

  /** Adds a result to the journal. Returns an end if it failed for a cause that all questions of its team share. */
  #add(attempt: Attempt, worker: string | null, { onEvent }: RunContext): Unfinished | undefined {
    if (this.journal.has(attempt)) return undefined;
    this.#spending.add(attempt);
    this.journal.append(attempt);
    countOne(this.#asked, attempt.team);
    if (worker !== null) countOne(this.#done, worker);
    onEvent({ kind: 'finished', attempt });
    const cause =
      this.#cause.get(attempt.team) ?? new SharedCause(this.#plan.questions.length * this.#plan.repeat);
    this.#cause.set(attempt.team, cause);
    const wasGone = cause.error !== undefined;
    cause.judge(attempt, cause.failures);
    if (cause.error === undefined || wasGone) return undefined;
    return createBatchEnd(attempt.team, this.#findQuestion(attempt.task_id), cause.error);
  }

  #findQuestion(id: string): Question {
    const found = this.#plan.questions.find(({ taskId }) => taskId === id);
    if (found !== undefined) return found;
    throw new MeshError('store', `${this.#queue.location}: ${id} is no question of batch ${this.name}`);
  }

  /**
   * Reports workers, and attempts that are asked again; stores a failed result for attempts that no worker gets again.
   *
   * @returns the number of attempts that are waiting or being answered
   */
  async #look(watch: WorkerWatch, { onEvent }: RunContext): Promise<number> {
    const { teams } = this.#plan;
    const left = await this.#queue.countLeft(this.name, teams.length);
    const workers = await this.#queue.listWorkers();
    watch.show(workers);
    onEvent({ kind: 'workers', workers });
    for (const retried of await this.#queue.listRetried(this.name, teams.length)) {
      const { task_id, cycle } = retried.key;
      const planned = teams[retried.team];
      if (planned === undefined) continue;
      const { team } = planned;
      const who = retried.worker ?? 'a worker';
      if (!retried.isDead) {
        watch.noteOnce(
          `${task_id} ${cycle} ${team.name} ${retried.tries}`,
          `question ${task_id} (team ${team.name}) is asked again: ${retried.why}`,
        );
        continue;
      }
      const reason = `${QUEUE_LIMITS.tries} workers took it and none finished it, the last one ${who}: ${retried.why}`;
      const attempt = failUnasked(this.#findQuestion(task_id), team, cycle, reason);
      if (await this.#queue.bury(this.name, retried, attempt))
        this.onNote(`question ${task_id} (team ${team.name}) fails: ${reason}`);
    }
    return left;
  }
}

function countOne(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

const INTERRUPTED: Unfinished = { kind: 'interrupted', reason: 'the wait was interrupted; workers go on' };

function failUnasked(
  question: Question,
  team: RunPlan['teams'][number]['team'],
  cycle: number,
  reason: string,
): Attempt {
  const scores = createTaskScorer(team.scorer)({ truths: question.truths }, null);
  const end = { status: 'failed' as const, answer: null, elapsedMs: 0, scores };
  const attempt = buildAttempt(end, { question, team: team.name, cycle, redact: (text) => text });
  return failAttempt(attempt, question, { status: 'failed', reason, code: 'limit' });
}

/** Tells the user which workers come and go, and why one refuses work, each reason once. */
class WorkerWatch {
  readonly #note: (text: string) => void;
  readonly #said = new Set<string>();
  #there = new Set<string>();
  #isFirst = true;

  constructor(note: (text: string) => void) {
    this.#note = note;
  }

  show(workers: Awaited<ReturnType<AttemptQueue['listWorkers']>>): void {
    const ids = new Set(workers.map(({ id }) => id));
    for (const { id, slots, refuses } of workers) {
      if (!this.#there.has(id))
        this.#note(`worker ${id} is there, with ${slots} ${slots === 1 ? 'slot' : 'slots'}`);
      if (refuses !== null) this.noteOnce(`${id} ${refuses}`, `worker ${id}: ${refuses}`);
    }
    for (const id of this.#there) if (!ids.has(id)) this.#note(`worker ${id} is gone`);
    if (this.#isFirst && ids.size === 0)
      this.#note('no worker is there yet: start some with the command worker');
    this.#isFirst = false;
    this.#there = ids;
  }

  noteOnce(key: string, text: string): void {
    if (this.#said.has(key)) return;
    this.#said.add(key);
    this.#note(text);
  }
}

/**
 * Stores the files of all questions, and says of each why it is missing.
 *
 * @throws MeshError `usage`, naming files that are too large
 */
async function storeFiles({ questions, folder }: RunPlan, queue: AttemptQueue): Promise<QueuedFile[]> {
  const names = new Set(questions.flatMap(({ fileName }) => fileName ?? []));
  const files: QueuedFile[] = [];
  for (const name of names) files.push(await storeFile(name, folder, queue));
  return files;
}

async function storeFile(name: string, folder: string | undefined, queue: AttemptQueue): Promise<QueuedFile> {
  if (folder === undefined) return { name, missing: 'there is no folder to look in: give --files' };
  const source = path.join(folder, name);
  const fault = await findFileFault(source);
  if (fault !== undefined) return { name, missing: `${source}: ${fault}` };
  const content = readUserFile(source, {
    what: "question's file, which travels through the queue,",
    maxBytes: QUEUE_LIMITS.fileBytes,
    code: 'usage',
  });
  return { name, sha256: await queue.putFile(content), bytes: content.length };
}
