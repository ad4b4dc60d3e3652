import { setTimeout as sleep } from 'node:timers/promises';
import { MeshError, messageOf } from '../../core/errors.ts';
import type { Fault } from '../../core/hub/faults/fault.ts';
import { FaultBooks } from '../../core/hub/faults/fault-books.ts';
import type { Link } from '../../core/hub/link.ts';
import { MeshNetwork } from '../../core/hub/mesh-network.ts';
import { routerNamed } from '../../core/hub/routing.ts';
import { MAX_FRAME_BYTES } from '../../core/limits.ts';
import { DOC_INIT } from '../../core/packet.ts';
import { faultLines } from '../../core/run/fault-ledger.ts';
import { runLedger } from '../../core/run/run-ledger.ts';
import { adapterNamed } from '../../protocols/registry.ts';
import { DeliveryBooks, type Fates } from './delivery-books.ts';
import { type Mishap, SOAK_STALL_MS } from './mishaps.ts';
import type { Swarm } from './swarm.ts';
import { LOSSY } from './synthetic-agent.ts';

export interface RoundPlan {
  readonly number: number;
  readonly adapter: string;
  readonly faults: readonly Fault[];
  readonly seed: number;
  readonly mishaps: readonly Mishap[];
  /** How much of the round has passed, 0 to 1, when so many packets have come. */
  readonly progress: (packets: number) => number;
}

/** What a round came to. Packets are counted as the hub takes them, deliveries as it makes them. */
export interface RoundReport {
  readonly round: number;
  readonly adapter: string;
  readonly seconds: number;
  readonly packets: number;
  /** What became of the deliveries. */
  readonly fates: Fates;
  /** Packets that the hub refused. */
  readonly refused: number;
  readonly kills: number;
  /** Connections that ended, those of killed agents among them. */
  readonly lost: number;
  readonly tasks: { readonly answered: number; readonly ended: number };
  readonly agentRss: number;
  readonly violations: readonly string[];
}

const TICK_MS = 10;
const TASK_TIMEOUT_MS = 5_000;
/** For an agent to be back, and for all to be quiet, on a machine that does other things, too. */
const PATIENCE_MS = 60_000;
const REDIAL_MS = 50;
/** Part of the packets that are none. */
const BROKEN_RATE = 0.001;

/**
 * Between the batches of one agent in a round with faults, where the hub decides about every single delivery: a flood would leave it no
 * time for handshakes, and nobody could come back.
 */
const FAULTY_PAUSE_MS = 50;

/** One handshake, a flood with mishaps and tasks in it, and the closing of the books. */
export async function soakRound(swarm: Swarm, plan: RoundPlan, signal: AbortSignal): Promise<RoundReport> {
  const round = await SoakRound.begin(swarm, plan);
  try {
    await round.pass(signal);
    return await round.close();
  } finally {
    round.end();
  }
}

class SoakRound {
  readonly #swarm: Swarm;
  readonly #plan: RoundPlan;
  readonly #network: MeshNetwork;
  readonly #faultBooks: FaultBooks;
  readonly #books: DeliveryBooks;
  readonly #returning = new Map<string, Promise<void>>();
  readonly #violations: string[] = [];
  readonly #tasks = { answered: 0, ended: 0 };
  readonly #startMs = performance.now();
  #kills = 0;
  #lost = 0;
  #isOver = false;

  private constructor(
    swarm: Swarm,
    plan: RoundPlan,
    network: MeshNetwork,
    faultBooks: FaultBooks,
    books: DeliveryBooks,
  ) {
    this.#swarm = swarm;
    this.#plan = plan;
    this.#network = network;
    this.#faultBooks = faultBooks;
    this.#books = books;
  }

  static async begin(swarm: Swarm, plan: RoundPlan): Promise<SoakRound> {
    const faultBooks = new FaultBooks();
    const books = new DeliveryBooks();
    const { seed, faults } = plan;
    const network = await MeshNetwork.connect({
      runId: `soak-${seed}-${plan.number}${faults.length > 0 ? LOSSY : ''}`,
      host: '127.0.0.1',
      adapter: await adapterNamed(plan.adapter),
      secret: swarm.secret,
      nodes: await swarm.nodes(),
      final: swarm.final,
      router: routerNamed('broadcast'),
      // No observer of packets: the hub is to take its fastest way.
      observer: {
        agentLost: ({ id }) => round.#agentLost(id),
        broadcast: () => books.broadcast(),
      },
      maxFrameBytes: MAX_FRAME_BYTES,
      stallTimeoutMs: SOAK_STALL_MS,
      isReturning: (id) => round.#returning.has(id),
      ...(faults.length === 0
        ? {}
        : { faults: { seed, faults, books: faultBooks, onEvent: () => undefined } }),
    });
    const round = new SoakRound(swarm, plan, network, faultBooks, books);
    books.watch(network);
    return round;
  }

  /** The flood, until the round is over. */
  async pass(signal: AbortSignal): Promise<void> {
    const plan = this.#plan;
    const swarm = this.#swarm;
    const over = new AbortController();
    const tasks = this.#runTasks(over.signal);
    const isFaulty = plan.faults.length > 0;
    const pauseMs = isFaulty ? FAULTY_PAUSE_MS : 0;
    swarm.flood({ seed: plan.seed, brokenRate: BROKEN_RATE, pauseMs });
    const waiting = [...plan.mishaps];
    for (;;) {
      const passed = plan.progress(this.#packets);
      for (let [next] = waiting; next !== undefined && next.at <= passed; [next] = waiting) {
        waiting.shift();
        this.#happen(next);
      }
      if (passed >= 1 || signal.aborted) break;
      await sleep(TICK_MS);
    }
    over.abort();
    await tasks;
  }

  /** Lets what is under way arrive, closes the books and compares them. */
  async close(): Promise<RoundReport> {
    const agentRss = await this.#quiet();
    this.#isOver = true;
    this.#network.faults?.end();
    await this.#network.settle();
    const { links, formerLinks, ownLine, faults } = this.#network;
    const all = [...formerLinks, ...links];
    const fates = this.#books.fates(faults === undefined ? undefined : this.#faultBooks.total);
    const lines = faults === undefined ? undefined : faultLines(this.#faultBooks, all, this.#offeredBytes);
    const ledger = runLedger(all, DOC_INIT, ownLine, lines);
    this.#violations.push(...ledger.differences, ...this.#books.differences(faults !== undefined));
    return {
      round: this.#plan.number,
      adapter: this.#plan.adapter,
      seconds: (performance.now() - this.#startMs) / 1000,
      packets: this.#packets,
      fates,
      refused: all.reduce((sum, { counts }) => sum + counts.refusedPackets, 0),
      kills: this.#kills,
      lost: this.#lost,
      tasks: this.#tasks,
      agentRss,
      violations: this.#violations,
    };
  }

  end(): void {
    this.#isOver = true;
    this.#network.close();
  }

  get #packets(): number {
    const { links, formerLinks } = this.#network;
    const count = (some: readonly Link[]) => some.reduce((sum, { counts }) => sum + counts.packetsRx, 0);
    return count(links) + count(formerLinks);
  }

  /** What the relay counted, copy by copy. */
  get #offeredBytes(): number {
    const { typeCounts, initBytes } = this.#network;
    return [...typeCounts.values()].reduce((sum, { bytes_tx }) => sum + bytes_tx, initBytes);
  }

  #happen(mishap: Mishap): void {
    if (mishap.kind === 'kill') {
      this.#kills += 1;
      this.#swarm.kill(mishap.process);
    } else {
      this.#swarm.doze(mishap.agent, mishap.forMs);
    }
  }

  #agentLost(id: string): void {
    if (this.#isOver) return;
    this.#lost += 1;
    this.#books.lost(id);
    const back = this.#bringBack(id)
      .catch((error: unknown) => this.#violations.push(`agent ${id} did not come back: ${messageOf(error)}`))
      .then(() => void this.#returning.delete(id));
    this.#returning.set(id, back);
  }

  /** Its process has been started again, or only its connection has ended: then the agent may notice that late. */
  async #bringBack(id: string): Promise<void> {
    const deadlineMs = performance.now() + PATIENCE_MS;
    for (;;) {
      try {
        await this.#network.readmit(await this.#swarm.node(id));
        this.#books.back(id);
        return;
      } catch (error) {
        if (!(error instanceof MeshError) || performance.now() > deadlineMs) throw error;
        await sleep(REDIAL_MS);
      }
    }
  }

  /** Tasks one after the other, through the flood. One may fail while an agent is gone; an answer is right. */
  async #runTasks(over: AbortSignal): Promise<void> {
    for (let number = 1; !over.aborted; number++) {
      const question = `question ${number} of round ${this.#plan.number}`;
      const task = {
        taskId: `task-${number}`,
        payload: { question, chunks: [] },
        timeoutMs: TASK_TIMEOUT_MS,
      };
      const { status, answer } = await this.#network.runTask(task, over);
      if (over.aborted) return;
      this.#tasks.ended += 1;
      if (status === 'answered') this.#tasks.answered += 1;
      if (status === 'answered' && answer !== question)
        this.#violations.push(`task ${number}: ${JSON.stringify(answer)} is not its answer`);
      await sleep(TICK_MS);
    }
  }

  /** Ends the flood and waits until the hub has every packet of it; the memory of the largest process of agents. */
  async #quiet(): Promise<number> {
    const deadlineMs = performance.now() + PATIENCE_MS;
    for (;;) {
      // First, as in the others' flood the way back is long; what those sent who come back meanwhile is asked for again.
      const { sent, rss } = await this.#swarm.quiet();
      await Promise.all(this.#returning.values());
      const { links } = this.#network;
      const isHere = ({ node, alive, counts }: Link) =>
        alive && sent.get(node.id) === counts.packetsRx + counts.refusedPackets;
      if (links.every(isHere)) return rss;
      if (performance.now() > deadlineMs) {
        const late = links.filter((link) => !isHere(link)).map(({ node }) => node.id);
        this.#violations.push(`packets of agents ${late.join(', ')} never came`);
        return rss;
      }
      await sleep(TICK_MS);
    }
  }
}
