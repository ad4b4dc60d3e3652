import { createHash, randomBytes } from 'node:crypto';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { QUEUE_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { sql } from 'kysely';
import type { Db, JobAttempt, PgBoss } from 'pg-boss';
import * as z from 'zod';
import { type Attempt, type AttemptKey, attemptSchema } from '../attempts/attempt.ts';
import { isSuspect } from '../batch/journal/journal.ts';
import { parseJsonCell } from '../store/sql/tables.ts';
import type { StoreOptions } from '../store/store.ts';
import { type BatchState, openQueueDatabase } from './queue-database.ts';
import { type QueuedPlan, queuedPlanSchema } from './queued-plan.ts';

type QueueDatabase = Awaited<ReturnType<typeof openQueueDatabase>>;

/** An attempt that a worker has taken. A claim with an old `retryCount` is void: the attempt has another worker by then. */
export interface Claim extends JobAttempt {
  readonly batch: string;
  readonly team: number;
  readonly key: Pick<AttemptKey, 'task_id' | 'cycle'>;
}

interface WorkerState {
  readonly id: string;
  readonly slots: number;
  readonly running: number;
  readonly done: number;
  readonly refuses: string | null;
}

/** An attempt that its worker did not finish: another worker gets it, or none if its tries are used up. */
interface Retried {
  readonly jobId: string;
  readonly team: number;
  readonly key: Pick<AttemptKey, 'task_id' | 'cycle'>;
  readonly worker: string | null;
  readonly tries: number;
  readonly why: string;
  /** True if no worker gets it again. */
  readonly isDead: boolean;
}

const jobDataSchema = z.strictObject({ task_id: z.string(), cycle: z.int().positive() });
type JobData = z.infer<typeof jobDataSchema>;

/**
 * Batches whose attempts any machine may answer: plans, files and results in Postgres, and a job of pg-boss for each attempt.
 *
 * Calls throw MeshError `store` if the database is not there or refuses.
 */
export class AttemptQueue {
  readonly #database: QueueDatabase;

  private constructor(database: QueueDatabase) {
    this.#database = database;
  }

  /**
   * Opens the queue, and creates its tables where there are none.
   *
   * @throws MeshError as {@link openQueueDatabase}
   */
  static async open(url: string, options: StoreOptions): Promise<AttemptQueue> {
    return new AttemptQueue(await openQueueDatabase(url, options));
  }

  /** Address of the database, without a password. */
  get location(): string {
    return this.#database.location;
  }

  get #db() {
    return this.#database.db;
  }

  get #boss(): PgBoss {
    return this.#database.boss;
  }

  async close(): Promise<void> {
    await this.#database.close();
  }

  /** Stores a file under its SHA-256, which it returns; the same content is kept once. */
  async putFile(content: Buffer): Promise<string> {
    const sha256 = hashContent(content);
    await this.#db
      .insertInto('files')
      .values({ sha256, content })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    return sha256;
  }

  /** Reads a file; undefined if it is not there, or not as it was stored. */
  async readFile(sha256: string): Promise<Buffer | undefined> {
    const found = await this.#db
      .selectFrom('files')
      .select('content')
      .where('sha256', '=', sha256)
      .executeTakeFirst();
    return found !== undefined && hashContent(found.content) === sha256 ? found.content : undefined;
  }

  /** Stores the plan of a new batch. No worker takes anything of it before {@link enqueue}. */
  async addBatch(name: string, plan: QueuedPlan): Promise<void> {
    const text = JSON.stringify(plan);
    if (Buffer.byteLength(text) > QUEUE_LIMITS.planBytes)
      throw new MeshError(
        'usage',
        `the questions take ${Buffer.byteLength(text)} bytes; a queued batch has at most ${QUEUE_LIMITS.planBytes}: split the file`,
      );
    await this.#db
      .insertInto('batches')
      .values({ name, state: 'stopped', gaia_mesh: plan.gaia_mesh, plan: text })
      .execute();
  }

  /** @throws MeshError `usage` if there is no such batch, with the names of others */
  async readBatch(name: string): Promise<{ plan: QueuedPlan; state: BatchState }> {
    const found = await this.#db
      .selectFrom('batches')
      .select(['plan', 'state'])
      .where('name', '=', name)
      .executeTakeFirst();
    if (found !== undefined)
      return { state: found.state, plan: this.#parse(queuedPlanSchema, found.plan, 'batches') };
    const others = await this.#db
      .selectFrom('batches')
      .select('name')
      .orderBy('name', 'desc')
      .limit(5)
      .execute();
    const known = others.length === 0 ? 'it has none' : `it has ${others.map((one) => one.name).join(', ')}`;
    throw new MeshError('usage', `${this.location}: there is no batch ${name}; ${known}`);
  }

  /** Lists the batches that workers may take from. */
  async listOpen(): Promise<{ name: string; gaia_mesh: string }[]> {
    return this.#db
      .selectFrom('batches')
      .select(['name', 'gaia_mesh'])
      .where('state', '=', 'open')
      .orderBy('name')
      .execute();
  }

  /**
   * Gives all attempts of a batch that are not queued yet to the queue, and opens it. After a stop, attempts without a result, and
   * those that a shared cause ended, are queued again.
   */
  async enqueue(name: string, plan: QueuedPlan, state: BatchState): Promise<void> {
    if (state === 'stopped') {
      // A coordinator that was killed may have left jobs on the queue.
      await this.end(name, plan.teams.length, 'stopped');
      await this.#forgetUnfinished(name);
    }
    const prefix = randomBytes(8).toString('hex');
    let number = 0;
    for (const [team, { in_order: isInOrder }] of plan.teams.entries()) {
      const queue = nameQueue(name, team);
      await this.#boss.createQueue(queue, {
        policy: isInOrder ? 'singleton' : 'standard',
        retryLimit: QUEUE_LIMITS.tries - 1,
        heartbeatSeconds: QUEUE_LIMITS.heartbeatS,
        expireInSeconds: QUEUE_LIMITS.attemptS,
      });
      for (const part of listParts(plan)) {
        const rows = part.map(({ task_id, cycle }) => ({
          batch: name,
          team,
          cycle,
          task_id,
          // Jobs of one moment are fetched in the order of their ids.
          job_id: toUuid(prefix, number++),
        }));
        await this.#db.transaction().execute(async (tx) => {
          const added = await sql<{ job_id: string; task_id: string; cycle: number }>`
            INSERT INTO ${this.#database.names.attempts} (batch, team, cycle, task_id, job_id)
            SELECT batch, team, cycle, task_id, job_id FROM json_to_recordset(${JSON.stringify(rows)}::json)
              AS given (batch text, team integer, cycle integer, task_id text, job_id uuid)
            ON CONFLICT DO NOTHING RETURNING job_id, task_id, cycle`.execute(tx);
          const jobs = added.rows.map(({ job_id: id, task_id, cycle }) => ({
            id,
            data: { task_id, cycle } satisfies JobData,
            priority: plan.repeat - cycle,
          }));
          if (jobs.length > 0) await this.#boss.insert(queue, jobs, { db: this.#database.toBoss(tx) });
        });
      }
    }
    // Without statistics of the new rows, each fetch reads and sorts all waiting jobs: 20 ms instead of 3 for 25,000 jobs.
    await sql`ANALYZE ${this.#database.names.jobs}`.execute(this.#db);
    await this.#setState(name, 'open');
  }

  /** Takes an attempt of a team; undefined if none is waiting. */
  async claim(batch: string, team: number, worker: string): Promise<Claim | undefined> {
    const jobs = await this.#boss
      .fetch<unknown>(nameQueue(batch, team), { batchSize: 1, includeMetadata: true })
      .catch(ignoreMissing);
    const [job] = jobs ?? [];
    if (job === undefined) return undefined;
    const key = this.#parse(jobDataSchema, job.data, 'jobs');
    // The name is for messages alone: the question does not wait for it.
    const named = this.#db.updateTable('attempts').set({ worker }).where('job_id', '=', job.id).execute();
    named.catch(() => undefined);
    return { id: job.id, retryCount: job.retryCount, batch, team, key };
  }

  /** Tells the queue that a worker still works on these attempts. */
  async touch(claims: readonly Claim[]): Promise<void> {
    for (const [queue, own] of Map.groupBy(claims, ({ batch, team }) => nameQueue(batch, team)))
      await this.#boss.touch(queue, own.map(toFence)).catch(ignoreMissing);
  }

  /**
   * Stores the result of an attempt and completes its job in one transaction.
   *
   * @returns false if the attempt was given to another worker meanwhile: nothing is stored then
   */
  async finish(claim: Claim, attempt: Attempt): Promise<boolean> {
    const queue = nameQueue(claim.batch, claim.team);
    return this.#store(claim.batch, claim.id, attempt, (db) =>
      isSettled(this.#boss.complete(queue, toFence(claim), null, { db })),
    );
  }

  /** Gives an attempt back untried. It is as if it had not been taken. */
  async giveBack(claim: Claim): Promise<void> {
    const queue = nameQueue(claim.batch, claim.team);
    await this.#db.transaction().execute(async (tx) => {
      const db = this.#database.toBoss(tx);
      // A resumed job would count as tried.
      if (await isSettled(this.#boss.deleteJob(queue, toFence(claim), { db })))
        await this.#boss.insert(queue, [{ id: claim.id, data: claim.key }], { db });
    });
  }

  /** Counts a try of an attempt that failed by no fault of its question, such as a lost agent. */
  async countFailure(claim: Claim, why: string): Promise<void> {
    await this.#boss
      .fail(nameQueue(claim.batch, claim.team), toFence(claim), { message: why })
      .catch(ignoreMissing);
  }

  /** Returns results in the order in which they were finished, a page at a time. */
  async listResults(
    batch: string,
    after: number,
  ): Promise<{ finished: number; worker: string | null; attempt: Attempt }[]> {
    const rows = await this.#db
      .selectFrom('attempts')
      .select(['finished', 'record', 'worker'])
      .where('batch', '=', batch)
      .where('finished', '>', after)
      .orderBy('finished')
      .limit(QUEUE_LIMITS.page)
      .execute();
    return rows.map(({ finished, record, worker }) => ({
      finished: Number(finished),
      worker,
      attempt: this.#parse(attemptSchema, record, 'attempts'),
    }));
  }

  /** Lists the attempts of a batch that were taken more than once, at most a page. */
  async listRetried(batch: string, teams: number): Promise<Retried[]> {
    const queues = nameQueues(batch, teams);
    const { rows } = await sql<{
      job_id: string;
      team: number;
      task_id: string;
      cycle: number;
      worker: string | null;
      retry_count: number;
      state: string;
      output: unknown;
    }>`
      SELECT a.job_id, a.team, a.task_id, a.cycle, a.worker, j.retry_count, j.state::text AS state, j.output
      FROM ${this.#database.names.jobs} j JOIN ${this.#database.names.attempts} a ON a.job_id = j.id
      WHERE j.name = ANY(${queues}::text[]) AND a.finished IS NULL AND (j.retry_count > 0 OR j.state = 'failed')
      LIMIT ${QUEUE_LIMITS.page}`.execute(this.#db);
    return rows.map(({ job_id: jobId, team, task_id, cycle, worker, retry_count, state, output }) => ({
      jobId,
      team,
      key: { task_id, cycle },
      worker,
      tries: Math.min(Number(retry_count) + 1, QUEUE_LIMITS.tries),
      why: explainRetry(output),
      isDead: state === 'failed',
    }));
  }

  /** Stores the result of an attempt that no worker gets again; returns false if it has a result. */
  async bury(batch: string, { jobId }: Retried, attempt: Attempt): Promise<boolean> {
    return this.#store(batch, jobId, attempt);
  }

  /** Counts the attempts that are waiting or being answered. */
  async countLeft(batch: string, teams: number): Promise<number> {
    const queues = nameQueues(batch, teams);
    const { rows } = await sql<{ count: string }>`
      SELECT count(*) AS count FROM ${this.#database.names.jobs}
      WHERE name = ANY(${queues}::text[]) AND state < 'completed'`.execute(this.#db);
    return Number(rows[0]?.count ?? 0);
  }

  /** Removes the attempts of a team that no worker has begun. */
  async dropWaiting(batch: string, team: number): Promise<void> {
    await this.#boss.deleteQueuedJobs(nameQueue(batch, team)).catch(ignoreMissing);
  }

  /** Ends a batch and removes all of its attempts from the queue. Its results are kept. */
  async end(batch: string, teams: number, state: Exclude<BatchState, 'open'>): Promise<void> {
    await this.#setState(batch, state);
    for (const queue of nameQueues(batch, teams)) await this.#boss.deleteQueue(queue).catch(ignoreMissing);
  }

  /** Records that a worker is alive, and its state. */
  async beat({ id, slots, running, done, refuses }: WorkerState): Promise<void> {
    const seen = sql<Date>`now()`;
    const row = { slots, running, done, refuses, seen };
    await this.#db
      .insertInto('workers')
      .values({ id, ...row })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
      .execute();
  }

  async leave(worker: string): Promise<void> {
    await this.#db.deleteFrom('workers').where('id', '=', worker).execute();
  }

  /** Lists the workers that were seen within the time of a heartbeat. Those of earlier days are forgotten. */
  async listWorkers(): Promise<WorkerState[]> {
    await this.#db.deleteFrom('workers').where('seen', '<', sql<Date>`now() - interval '1 day'`).execute();
    return this.#db
      .selectFrom('workers')
      .select(['id', 'slots', 'running', 'done', 'refuses'])
      .where('seen', '>', sql<Date>`now() - ${QUEUE_LIMITS.heartbeatS} * interval '1 second'`)
      .orderBy('id')
      .limit(QUEUE_LIMITS.page)
      .execute();
  }

  /**
   * Stores the result of an attempt that has none.
   *
   * @param mayStore a step of the same transaction; nothing is stored if it returns false
   */
  async #store(
    batch: string,
    jobId: string,
    attempt: Attempt,
    mayStore: (db: Db) => Promise<boolean> = async () => true,
  ): Promise<boolean> {
    const record = JSON.stringify(attemptSchema.parse(attempt));
    return this.#db.transaction().execute(async (tx) => {
      if (!(await mayStore(this.#database.toBoss(tx)))) return false;
      // The lock is taken before the number, so that results are committed in the order of numbers and collectors miss none.
      const finished = sql<number>`(SELECT nextval(${this.#database.names.finished})
        FROM pg_advisory_xact_lock(hashtext(${batch})))`;
      const stored = await tx
        .updateTable('attempts')
        .set({ record, finished })
        .where('job_id', '=', jobId)
        .where('finished', 'is', null)
        .returning('job_id')
        .executeTakeFirst();
      return stored !== undefined;
    });
  }

  async #setState(name: string, state: BatchState): Promise<void> {
    await this.#db.updateTable('batches').set({ state }).where('name', '=', name).execute();
  }

  /** Deletes the attempts that a stopped batch left without a result, and those that a shared cause made fail. */
  async #forgetUnfinished(name: string): Promise<void> {
    const suspects: number[] = [];
    let after = 0;
    for (;;) {
      const page = await this.listResults(name, after);
      if (page.length === 0) break;
      for (const { attempt, finished } of page) {
        if (isSuspect(attempt)) suspects.push(finished);
        after = finished;
      }
    }
    await this.#db
      .deleteFrom('attempts')
      .where('batch', '=', name)
      .where(({ eb, or }) =>
        or([eb('finished', 'is', null), ...(suspects.length === 0 ? [] : [eb('finished', 'in', suspects)])]),
      )
      .execute();
  }

  #parse<T>(schema: z.ZodType<T>, cell: unknown, table: string): T {
    return parseJsonCell(schema, cell, { location: this.location, table });
  }
}

const responseSchema = z.looseObject({ affected: z.int() });

/** Tells if the job was still as it had been fetched. A cancelled batch has no queue any more. */
async function isSettled(call: Promise<unknown>): Promise<boolean> {
  const response = await call.catch(ignoreMissing);
  return response !== undefined && responseSchema.parse(response).affected === 1;
}

const hashContent = (content: Buffer) => createHash('sha256').update(content).digest('hex');

const nameQueue = (batch: string, team: number) => `${batch}/${team}`;

const nameQueues = (batch: string, teams: number) =>
  Array.from({ length: teams }, (_, team) => nameQueue(batch, team));

const toFence = ({ id, retryCount }: Claim): JobAttempt => ({ id, retryCount });

function toUuid(prefix: string, number: number): string {
  const hex = prefix + number.toString(16).padStart(16, '0');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Lists the attempts of one team, a page at a time. */
function* listParts({ questions, repeat }: QueuedPlan): Generator<Pick<AttemptKey, 'task_id' | 'cycle'>[]> {
  let part: Pick<AttemptKey, 'task_id' | 'cycle'>[] = [];
  for (let cycle = 1; cycle <= repeat; cycle++)
    for (const { taskId } of questions) {
      part.push({ task_id: taskId, cycle });
      if (part.length < QUEUE_LIMITS.page) continue;
      yield part;
      part = [];
    }
  if (part.length > 0) yield part;
}

const outputSchema = z.object({
  message: z.string().optional(),
  value: z.object({ message: z.string() }).optional(),
});

function explainRetry(output: unknown): string {
  const { data } = outputSchema.safeParse(output);
  const said = data?.message ?? data?.value?.message;
  return said === undefined || said.includes('heartbeat') ? 'its worker was not heard of any more' : said;
}

function ignoreMissing(error: unknown): void {
  if (!toErrorMessage(error).includes('does not exist')) throw error;
}
