import { setTimeout as sleep } from 'node:timers/promises';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_FRAME_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import { FaultyDelivery } from '@gaia-mesh/core/hub/delivery/faulty.ts';
import type { Fault } from '@gaia-mesh/core/hub/faults/fault.ts';
import type { Link } from '@gaia-mesh/core/hub/link.ts';
import { MeshNetwork } from '@gaia-mesh/core/hub/mesh-network.ts';
import { createRouter } from '@gaia-mesh/core/hub/routing.ts';
import { buildRunLedger } from '@gaia-mesh/core/run/metrics/run-ledger.ts';
import { Random } from '@gaia-mesh/core/system/random.ts';
import { loadAdapter } from '@gaia-mesh/protocols/registry.ts';
import { DeliveryLedger, type Fates } from './delivery-ledger.ts';
import type { Swarm } from './swarm.ts';
import { LOSSY } from './synthetic-agent.ts';

/** A fault in a round, at the fraction `at` (0 to 1) of it. */
type InjectedFault =
  | { readonly kind: 'kill'; readonly at: number; readonly process: number }
  /** An agent that reads nothing for a while: the others wait for it, or it is cut off. */
  | { readonly kind: 'slow' | 'stall'; readonly at: number; readonly agent: string; readonly forMs: number };

/** Time after which the soaked hub cuts off an agent that accepts nothing. */
const SOAK_STALL_MS = 500;
const SLOW_MS = SOAK_STALL_MS / 5;
/** Duration of a stall: longer than it takes to fill all queues and to be cut off then. */
const STALLED_MS = 4 * SOAK_STALL_MS;

/** Draws the injected faults of one round, in order; the same seed and number give the same faults. */
export function drawInjectedFaults(
  seed: number,
  round: number,
  agents: number,
  processes: number,
): InjectedFault[] {
  const random = new Random(seed * 1000 + round);
  // No fault comes at the very end: broken agents must have time to come back under load.
  const at = () => 0.05 + 0.8 * random.uniform();
  const agent = () => String(random.integer(agents));
  return [
    { kind: 'kill' as const, at: at(), process: random.integer(processes) },
    { kind: 'kill' as const, at: at(), process: random.integer(processes) },
    { kind: 'slow' as const, at: at(), agent: agent(), forMs: SLOW_MS },
    { kind: 'slow' as const, at: at(), agent: agent(), forMs: SLOW_MS },
    { kind: 'stall' as const, at: at(), agent: agent(), forMs: STALLED_MS },
  ].sort((a, b) => a.at - b.at);
}

interface RoundPlan {
  readonly number: number;
  readonly adapter: string;
  readonly faults: readonly Fault[];
  readonly seed: number;
  readonly injected: readonly InjectedFault[];
  /** Returns the fraction of the round that has passed, 0 to 1, when `packets` packets have come. */
  readonly progress: (packets: number) => number;
}

/** Results of a round. Packets are counted as the hub receives them, deliveries as it makes them. */
export interface RoundReport {
  readonly round: number;
  readonly adapter: string;
  readonly seconds: number;
  readonly packets: number;
  /** Fates of the deliveries. */
  readonly fates: Fates;
  /** Packets that the hub refused. */
  readonly refused: number;
  readonly kills: number;
  /** Connections that ended, including those of killed agents. */
  readonly lost: number;
  readonly tasks: { readonly answered: number; readonly ended: number };
  readonly agentRss: number;
  readonly violations: readonly string[];
}

const TICK_MS = 10;
const TASK_TIMEOUT_MS = 5_000;
/**
 * Time limit for an agent's return, and for all to become quiet, on a machine that does other things, too.
 */
const PATIENCE_MS = 60_000;
const REDIAL_MS = 50;
/** Fraction of the packets that are invalid. */
const BROKEN_RATE = 0.001;

/**
 * Pause between the batches of one agent in a round with faults, where the hub decides about every single
 * delivery: a flood would leave it no time for handshakes, and no agent could come back.
 */
const FAULTY_PAUSE_MS = 50;

/** Runs one handshake, a flood with injected faults and tasks in it, and the closing of the ledgers. */
export async function runSoakRound(swarm: Swarm, plan: RoundPlan, signal: AbortSignal): Promise<RoundReport> {
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
  readonly #faulty: FaultyDelivery | undefined;
  readonly #ledger: DeliveryLedger;
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
    faulty: FaultyDelivery | undefined,
    ledger: DeliveryLedger,
  ) {
    this.#swarm = swarm;
    this.#plan = plan;
    this.#network = network;
    this.#faulty = faulty;
    this.#ledger = ledger;
  }

  static async begin(swarm: Swarm, plan: RoundPlan): Promise<SoakRound> {
    const ledger = new DeliveryLedger();
    const { seed, faults } = plan;
    const faulty =
      faults.length === 0 ? undefined : new FaultyDelivery({ seed, faults, onEvent: () => undefined });
    const runId = `soak-${seed}-${plan.number}${faults.length > 0 ? LOSSY : ''}`;
    const nodes = await swarm.nodes();
    const network = await MeshNetwork.connect({
      runId,
      adapter: await loadAdapter(plan.adapter),
      secret: swarm.secret,
      nodes,
      final: swarm.final,
      router: createRouter('broadcast'),
      observer: {
        broadcast: () => ledger.broadcast(),
        agentLost: ({ id }) => round.#agentLost(id),
      },
      maxFrameBytes: MAX_FRAME_BYTES,
      stallTimeoutMs: SOAK_STALL_MS,
      isReturning: (id) => round.#returning.has(id),
      delivery: faulty,
    });
    const round = new SoakRound(swarm, plan, network, faulty, ledger);
    ledger.watch(network);
    return round;
  }

  /** Floods the hub until the round is over. */
  async pass(signal: AbortSignal): Promise<void> {
    const plan = this.#plan;
    const swarm = this.#swarm;
    const over = new AbortController();
    const tasks = this.#runTasks(over.signal);
    const isFaulty = plan.faults.length > 0;
    const pauseMs = isFaulty ? FAULTY_PAUSE_MS : 0;
    swarm.flood({ seed: plan.seed, brokenRate: BROKEN_RATE, pauseMs });
    const waiting = [...plan.injected];
    for (;;) {
      const passed = plan.progress(this.#packets);
      for (let [next] = waiting; next !== undefined && next.at <= passed; [next] = waiting) {
        waiting.shift();
        this.#inject(next);
      }
      if (passed >= 1 || signal.aborted) break;
      await sleep(TICK_MS);
    }
    over.abort();
    await tasks;
  }

  /** Lets packets under way arrive, closes the ledgers and compares them. */
  async close(): Promise<RoundReport> {
    const agentRss = await this.#quiet();
    this.#isOver = true;
    await this.#network.settle();
    const { links, formerLinks } = this.#network;
    const counters = this.#faulty?.counters;
    const all = [...formerLinks, ...links];
    const fates = this.#ledger.fates(counters?.total);
    const ledger = buildRunLedger(this.#network, { faults: counters });
    this.#violations.push(...ledger.differences, ...this.#ledger.differences(counters !== undefined));
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

  #inject(fault: InjectedFault): void {
    if (fault.kind === 'kill') {
      this.#kills += 1;
      this.#swarm.kill(fault.process);
    } else {
      this.#swarm.doze(fault.agent, fault.forMs);
    }
  }

  #agentLost(id: string): void {
    if (this.#isOver) return;
    this.#lost += 1;
    this.#ledger.lost(id);
    const back = this.#bringBack(id)
      .catch((error: unknown) =>
        this.#violations.push(`agent ${id} did not come back: ${toErrorMessage(error)}`),
      )
      .then(() => void this.#returning.delete(id));
    this.#returning.set(id, back);
  }

  /**
   * Brings an agent back whose process was restarted, or whose connection alone ended: then the agent may
   * notice that late.
   */
  async #bringBack(id: string): Promise<void> {
    const deadlineMs = performance.now() + PATIENCE_MS;
    for (;;) {
      try {
        await this.#network.readmit(await this.#swarm.node(id));
        this.#ledger.back(id);
        return;
      } catch (error) {
        if (!(error instanceof MeshError) || performance.now() > deadlineMs) throw error;
        await sleep(REDIAL_MS);
      }
    }
  }

  /**
   * Runs tasks one after the other, through the flood. A task may fail while an agent is gone; an answer must
   * be right.
   */
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

  /**
   * Ends the flood and waits until the hub has every packet of it. Returns the memory of the largest process
   * of agents.
   */
  async #quiet(): Promise<number> {
    const deadlineMs = performance.now() + PATIENCE_MS;
    for (;;) {
      // The flood is stopped first, since agents return slowly while it lasts; agents that return meanwhile
      // are asked again.
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
