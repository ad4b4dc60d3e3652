import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { QUEUE_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import type { RunObserver } from '@gaia-mesh/core/run/run-options.ts';
import { writeWhole } from '@gaia-mesh/core/system/files/whole-file.ts';
import { packageVersion } from '@gaia-mesh/core/system/package-root.ts';
import { findCacheFolder } from '@gaia-mesh/core/system/platform.ts';
import type { Attempt } from '../attempts/attempt.ts';
import { askInTime } from '../batch/batch.ts';
import { createRedactor } from '../batch/redact.ts';
import { MeshTeam } from '../batch/teams/mesh-team.ts';
import { applyTeamOptions, type PlannedTeam, planTeam } from '../plan/team-options.ts';
import { placeFile } from '../questions/place-file.ts';
import type { Question } from '../questions/question.ts';
import { createTaskScorer } from '../scorers/scorer.ts';
import { checkTeamModels } from '../teams/check-models.ts';
import type { AttemptQueue, Claim } from './attempt-queue.ts';
import { listLocalParts, type QueuedFile, type QueuedPlan } from './queued-plan.ts';
import { waitOutFaults } from './wait-out-faults.ts';

interface WorkerSetup {
  /** Attempts at once. */
  readonly slots: number;
  /** The address of the store, for agents that learn. */
  readonly store: string;
  /** Folder of the meshes' results and files. */
  readonly out: string;
  /** True if the worker takes batches that name commands and files of this machine. */
  readonly trusts: boolean;
  /** Milliseconds without an attempt after which the worker ends; undefined if it waits for ever. */
  readonly idleMs?: number | undefined;
  readonly observer: RunObserver;
  readonly say: (text: string) => void;
  /** When it aborts, the worker takes no more attempts and finishes those that are running. */
  readonly stopping: AbortSignal;
  /** Gives running attempts back when it aborts. */
  readonly aborting: AbortSignal;
}

/** A team of an open batch that this worker serves, with its agents while they are up. */
interface ServedTeam {
  readonly batch: string;
  readonly index: number;
  readonly planned: PlannedTeam;
  readonly plan: QueuedPlan;
  mesh: Promise<MeshTeam> | undefined;
  users: number;
  idleSinceMs: number;
}

/** Milliseconds after which a refused team is looked at again: its model server may be up by then. */
const REFUSAL_MS = 30_000;

/**
 * Takes attempts off a queue and answers them, each with the team of its batch. Agents stay up between attempts of one batch.
 */
export class Worker {
  readonly id = `${os.hostname()}-${process.pid}-${randomBytes(2).toString('hex')}`;
  readonly #queue: AttemptQueue;
  readonly #setup: WorkerSetup;
  readonly #claims = new Set<Claim>();
  readonly #teams = new Set<ServedTeam>();
  /** Teams and whole batches from which this worker takes no attempts, with the reason and its time. */
  readonly #refused = new Map<string, { why: string; sinceMs: number }>();
  readonly #redact = createRedactor(process.env);
  #done = 0;

  constructor(queue: AttemptQueue, setup: WorkerSetup) {
    this.#queue = queue;
    this.#setup = setup;
  }

  /** Works until it is stopped or has been idle for too long. Returns the number of attempts that it finished. */
  async run(): Promise<number> {
    const { slots, stopping, say } = this.#setup;
    await this.#refresh();
    const idle = new AbortController();
    const ending = AbortSignal.any([stopping, idle.signal]);
    const loops = [
      repeatUntil(idle.signal, QUEUE_LIMITS.touchMs, () => this.#beat().catch(() => undefined)),
      repeatUntil(ending, QUEUE_LIMITS.refreshMs, () => waitOutFaults(() => this.#refresh(), say, ending)),
    ];
    try {
      await Promise.all(Array.from({ length: slots }, () => this.#work(ending, idle)));
    } finally {
      idle.abort();
      await Promise.all(loops);
      await Promise.all([...this.#teams].map((served) => this.#closeTeam(served)));
      await this.#queue.leave(this.id).catch((error: unknown) => say(toErrorMessage(error)));
    }
    return this.#done;
  }

  /** Looks for batches, and ends agents that have been idle for too long. */
  async #refresh(): Promise<void> {
    const open = await this.#queue.listOpen();
    for (const { name, gaia_mesh } of open) {
      if (gaia_mesh !== packageVersion)
        this.#refuse(
          `batch ${name}`,
          `it is of Gaia Mesh ${gaia_mesh}, and this worker of ${packageVersion}`,
        );
      else await this.#addTeams(name);
    }
    const names = new Set(open.map(({ name }) => name));
    for (const served of this.#teams) {
      const isOver = !names.has(served.batch);
      const isIdle = performance.now() - served.idleSinceMs > QUEUE_LIMITS.idleAgentsMs;
      if (served.users > 0 || !(isOver || isIdle)) continue;
      if (isOver) this.#teams.delete(served);
      await this.#closeTeam(served);
    }
  }

  async #addTeams(batch: string): Promise<void> {
    const known = [...this.#teams].filter((served) => served.batch === batch);
    const plan = known[0]?.plan ?? (await this.#queue.readBatch(batch)).plan;
    for (const [index, queued] of plan.teams.entries()) {
      if (known.some((served) => served.index === index)) continue;
      const what = `team ${queued.team.name}, batch ${batch}`;
      const sinceMs = this.#refused.get(what)?.sinceMs;
      if (sinceMs !== undefined && performance.now() - sinceMs < REFUSAL_MS) continue;
      try {
        const planned = await this.#plan(batch, queued);
        this.#refused.delete(what);
        const idleSinceMs = performance.now();
        this.#teams.add({ batch, index, planned, plan, mesh: undefined, users: 0, idleSinceMs });
      } catch (error) {
        if (!(error instanceof MeshError)) throw error;
        this.#refuse(what, error.message);
      }
    }
  }

  #refuse(what: string, why: string): void {
    const said = `takes nothing of ${what}: ${why}`;
    if (this.#refused.get(what)?.why !== said) this.#setup.say(said);
    this.#refused.set(what, { why: said, sinceMs: performance.now() });
  }

  /**
   * Plans a batch's team as this worker would run it.
   *
   * @throws MeshError if this worker cannot answer as this team
   */
  async #plan(
    batch: string,
    { team, model, prompt_version }: QueuedPlan['teams'][number],
  ): Promise<PlannedTeam> {
    const local = listLocalParts(team);
    if (local.length > 0 && !this.#setup.trusts)
      throw new MeshError(
        'config',
        `it runs or reads parts of this machine (${local.join(', ')}): start the worker with --trust-batches if you trust who writes to the database`,
      );
    applyTeamOptions(team, {});
    const planned = await planTeam(team, {}, path.join(this.#setup.out, batch, team.name));
    const { promptVersion, model: own } = planned.fingerprint;
    if (promptVersion !== prompt_version || own !== model)
      throw new MeshError(
        'config',
        'its prompts, tools or model differ from those here, which could change results',
      );
    await checkTeamModels(team);
    return planned;
  }

  /** Takes and answers one attempt after the other. */
  async #work(ending: AbortSignal, idle: AbortController): Promise<void> {
    const { say, idleMs } = this.#setup;
    let lastMs = performance.now();
    while (!ending.aborted) {
      const taken = await waitOutFaults(() => this.#take(), say, ending);
      if (taken === undefined) {
        if (idleMs !== undefined && this.#claims.size === 0 && performance.now() - lastMs > idleMs)
          idle.abort();
        await delay(QUEUE_LIMITS.pollMs, undefined, { signal: ending }).catch(() => undefined);
        continue;
      }
      const [served, claim] = taken;
      try {
        await this.#answer(served, claim);
      } finally {
        this.#claims.delete(claim);
        served.users -= 1;
        served.idleSinceMs = performance.now();
      }
      lastMs = performance.now();
    }
  }

  /** Takes an attempt, if possible of a team whose agents are up. */
  async #take(): Promise<[ServedTeam, Claim] | undefined> {
    const able = [...this.#teams].sort((a, b) => Number(b.mesh !== undefined) - Number(a.mesh !== undefined));
    for (const served of able) {
      // This user keeps the agents up while the queue is asked.
      served.users += 1;
      let claim: Claim | undefined;
      try {
        claim = await this.#queue.claim(served.batch, served.index, this.id);
      } finally {
        if (claim === undefined) served.users -= 1;
      }
      if (claim === undefined) continue;
      this.#claims.add(claim);
      return [served, claim];
    }
    return undefined;
  }

  async #answer(served: ServedTeam, claim: Claim): Promise<void> {
    const { say, aborting } = this.#setup;
    const { task_id: taskId } = claim.key;
    let attempt: Attempt;
    try {
      attempt = await this.#ask(served, claim);
      if (aborting.aborted && attempt.status !== 'answered')
        throw new MeshError('interrupted', 'interrupted');
    } catch (error) {
      if (!(error instanceof MeshError)) throw error;
      if (aborting.aborted) {
        await this.#queue.giveBack(claim);
        say(`${taskId} is given back`);
        return;
      }
      // Agents or files are gone: another worker may have better ones.
      say(`${taskId}: ${error.message}`);
      await waitOutFaults(() => this.#queue.countFailure(claim, this.#redact(error.message)), say, aborting);
      if (error.code === 'agent' || error.code === 'handshake') await this.#closeTeam(served);
      return;
    }
    const isKept = await waitOutFaults(() => this.#queue.finish(claim, attempt), say, aborting);
    if (isKept === true) this.#done += 1;
    else say(`${taskId}: another worker has it by now: this answer is dropped`);
  }

  async #ask(served: ServedTeam, { batch, key }: Claim): Promise<Attempt> {
    const { plan, planned } = served;
    const { team } = planned;
    const { aborting } = this.#setup;
    const asked = plan.questions.find(({ taskId }) => taskId === key.task_id);
    if (asked === undefined)
      throw new MeshError(
        'store',
        `${this.#queue.location}: ${key.task_id} is no question of batch ${batch}`,
      );
    served.mesh ??= this.#startTeam(served);
    const mesh = await served.mesh;
    const file = plan.files.find(({ name }) => name === asked.fileName);
    const question = await this.#place(asked, file, key.cycle, this.#filesFolder(served));
    return askInTime(
      {
        team: team.name,
        askTeam: mesh.ask,
        limits: plan.limits,
        score: createTaskScorer(team.scorer),
        redact: this.#redact,
      },
      question,
      key.cycle,
      aborting,
    );
  }

  #startTeam(served: ServedTeam): Promise<MeshTeam> {
    const { plan, planned } = served;
    const { store, observer, aborting } = this.#setup;
    return MeshTeam.start(
      planned,
      {
        paths: { files: this.#filesFolder(served), store },
        questions: plan.questions,
        repeat: plan.repeat,
        isBatch: true,
        resumes: false,
        limits: plan.limits,
        external: new Set(),
        portBase: 'auto',
      },
      { observer, signal: aborting },
    );
  }

  /** Ends a team's agents. Attempts that use them now fail and are asked again. */
  async #closeTeam(served: ServedTeam): Promise<void> {
    const { mesh } = served;
    served.mesh = undefined;
    const isUp = await mesh?.catch(() => undefined);
    await isUp?.close().catch((error: unknown) => this.#setup.say(toErrorMessage(error)));
  }

  #filesFolder({ batch }: ServedTeam): string {
    return path.join(this.#setup.out, batch, 'files');
  }

  /** Puts a question's file where the team can read it; it comes from the database, or from the cache of this machine. */
  async #place(
    question: Question,
    file: QueuedFile | undefined,
    cycle: number,
    root: string,
  ): Promise<Question> {
    const { fileName: name } = question;
    if (file === undefined || name === undefined) return question;
    if ('missing' in file)
      return { ...question, attachment: { status: 'missing', name, reason: file.missing } };
    const folder = path.join(findCacheFolder(), 'files', file.sha256);
    for (let isFirst = true; ; isFirst = false) {
      const placed = await placeFile(question, cycle, { root, folder });
      if (placed.attachment?.status === 'placed' && placed.attachment.sha256 === file.sha256) return placed;
      // It is not in the cache yet, or another program has changed it there.
      if (!isFirst)
        throw new MeshError(
          'store',
          `${this.#queue.location}: file ${name} has another content than its hash says`,
        );
      const content = await this.#queue.readFile(file.sha256);
      if (content === undefined)
        throw new MeshError('store', `${this.#queue.location}: file ${name} is not there as it was stored`);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeWhole(path.join(folder, name), content);
    }
  }

  async #beat(): Promise<void> {
    await this.#queue.touch([...this.#claims]);
    await this.#queue.beat({
      id: this.id,
      slots: this.#setup.slots,
      running: this.#claims.size,
      done: this.#done,
      refuses: [...this.#refused.values()].at(-1)?.why ?? null,
    });
  }
}

/** Repeats some work with pauses until `signal` aborts. */
async function repeatUntil(
  signal: AbortSignal,
  pauseMs: number,
  work: () => Promise<unknown>,
): Promise<void> {
  while (!signal.aborted) {
    await work();
    await delay(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}
