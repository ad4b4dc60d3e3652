import type { Codec } from '../contracts/adapter.ts';
import { MeshError } from '../contracts/errors.ts';
import type { LedgerLine } from '../contracts/ledger.ts';
import { AGENT_LIMITS, LINK_LIMITS, RESTART_LIMITS } from '../contracts/limits.ts';
import { formatIssues, type JsonObject, MESH_TYPES } from '../contracts/packet.ts';
import { waitPatiently } from '../system/process/patience.ts';
import { ledgerReportSchema } from '../wire/ledger-report.ts';
import { Authorizer } from './authorizer.ts';
import { ControlSender } from './control-sender.ts';
import type { DeliveryStrategy } from './delivery/delivery-strategy.ts';
import { DirectDelivery } from './delivery/direct.ts';
import { type DialOptions, dialAgain, dialAgents } from './dial.ts';
import type { Link, MeshNode } from './link.ts';
import type { MeshObserver } from './mesh-observer.ts';
import { Relay } from './relay.ts';
import type { Router } from './routing.ts';
import { OpenTasks, type TaskRequest } from './tasks/open-tasks.ts';
import type { TaskClock, TaskOutcome } from './tasks/task-clock.ts';

export interface MeshNetworkOptions extends Omit<DialOptions, 'delivery'> {
  /**
   * The only node that may tag a final answer; null if there are no tasks and agents use tags for their own
   * purposes.
   */
  readonly final: string | null;
  readonly router: Router;
  /** Observer; events that it leaves out are not observed. */
  readonly observer?: Partial<MeshObserver> | undefined;
  /** Strategy of this mesh alone, since it has state; the default is {@link DirectDelivery}. */
  readonly delivery?: DeliveryStrategy | undefined;
  /** A destination that accepts nothing for this long with a full queue is cut off. */
  readonly stallTimeoutMs?: number | undefined;
  /** Returns true if a lost agent is being restarted and will be readmitted. */
  readonly isReturning?: ((id: string) => boolean) | undefined;
}

/**
 * Consecutive checks without progress that make a stall: a process that was itself suspended, however long,
 * has missed one check and not the others.
 */
const LOOKS = 4;

/** What becomes of events that the observer leaves out. */
const UNOBSERVED: MeshObserver = {
  relayed: () => undefined,
  broadcast: () => undefined,
  refused: () => undefined,
  agentLost: () => undefined,
};

/** Reason for not reading from a link; see `Link.holdReading`. */
const FULL_QUEUE = 'full queue';

/**
 * Reads from no agent while one destination's queue is full, so that memory stays bounded whatever they do; a
 * destination that accepts nothing for too long is cut off.
 */
class Backpressure {
  readonly #links: readonly Link[];
  readonly #stallTimeoutMs: number;
  readonly #full = new Set<Link>();

  constructor(links: readonly Link[], stallTimeoutMs: number = LINK_LIMITS.stallMs) {
    this.#links = links;
    this.#stallTimeoutMs = stallTimeoutMs;
  }

  /**
   * Checks a link's queue; call it after a write that the system has not fully accepted (see
   * `Link.onBacklog`).
   */
  check(link: Link): void {
    if (link.socket.queuedBytes <= LINK_LIMITS.queueBytes || this.#full.has(link)) return;
    this.#full.add(link);
    for (const other of this.#links) other.holdReading(FULL_QUEUE);
    let queuedBytes = link.socket.queuedBytes;
    let looksInVain = 0;
    const stall = setInterval(() => {
      const isMoving = link.socket.queuedBytes < queuedBytes;
      queuedBytes = link.socket.queuedBytes;
      looksInVain = isMoving ? 0 : looksInVain + 1;
      if (looksInVain < LOOKS) return;
      const seconds = this.#stallTimeoutMs / 1000;
      link.socket.reset(new MeshError('agent', `took no bytes for ${seconds} s with a full queue`));
    }, this.#stallTimeoutMs / LOOKS);
    void link.socket.drained().then(() => {
      clearInterval(stall);
      this.#full.delete(link);
      if (this.#full.size === 0) for (const other of this.#links) other.releaseReading(FULL_QUEUE);
    });
  }
}

/**
 * The hub: the centre of the star. It dials the agents, broadcasts each task's document, and forwards every
 * packet from one agent to the others byte for byte. It counts and keeps the clocks; it ignores the content
 * of packets (MP-13). This file tracks the members: `authorizer.ts` checks rights, `relay.ts` and `delivery/`
 * forward packets, and `open-tasks.ts` tracks the running tasks.
 */
export class MeshNetwork {
  /** The present link of each agent. */
  readonly links: readonly Link[];
  /** Lost links of agents that were readmitted. */
  readonly formerLinks: Link[] = [];
  readonly #options: MeshNetworkOptions;
  readonly #observer: MeshObserver;
  /** Mutable array behind {@link links}. */
  readonly #links: Link[];
  /** Lost links whose agents are awaited. */
  readonly #awaited = new Set<Link>();
  readonly #control: ControlSender;
  readonly #backpressure: Backpressure;
  readonly #authorizer: Authorizer;
  readonly #delivery: DeliveryStrategy;
  readonly #relay: Relay;
  readonly #tasks: OpenTasks;
  readonly #clocks = new Map<string, TaskClock>();
  readonly #settled = Promise.withResolvers<void>();
  #isSettling = false;

  private constructor(options: MeshNetworkOptions, delivery: DeliveryStrategy, links: Link[], codec: Codec) {
    const { final, router, maxFrameBytes } = options;
    const observer = { ...UNOBSERVED, ...options.observer };
    this.#options = options;
    this.#observer = observer;
    this.#links = links;
    this.links = links;
    this.#control = new ControlSender(codec);
    this.#backpressure = new Backpressure(links, options.stallTimeoutMs);
    this.#delivery = delivery;
    this.#authorizer = new Authorizer({
      final,
      router,
      observer,
      tasks: this.#clocks,
      delivery,
      onControl: (sender, type, payload, frameBytes) => this.#takeControl(sender, type, payload, frameBytes),
    });
    this.#relay = new Relay(this.#authorizer, delivery, observer);
    this.#tasks = new OpenTasks({
      clocks: this.#clocks,
      codec,
      control: this.#control,
      delivery,
      observer,
      maxFrameBytes,
      destinations: () => this.#destinations,
    });
    this.#updateRouter();
    for (const link of links) this.#admit(link);
  }

  /** Connects to every agent; throws like {@link dialAgents}. */
  static async connect(options: MeshNetworkOptions): Promise<MeshNetwork> {
    const delivery = options.delivery ?? new DirectDelivery();
    const { links, codec } = await dialAgents({ ...options, delivery });
    return new MeshNetwork(options, delivery, links, codec);
  }

  get typeCounts(): Authorizer['typeCounts'] {
    return this.#authorizer.typeCounts;
  }

  /** The hub's own packets, each counted once regardless of the number of copies. */
  get ownLine(): LedgerLine {
    return this.#tasks.ownLine;
  }

  /** Bytes of all copies of the documents. */
  get initBytes(): number {
    return this.#tasks.initBytes;
  }

  /**
   * Broadcasts a task's document to all agents and waits for its end: the final answer, the deadline, or
   * `signal`. Several tasks may run at the same time.
   */
  async runTask(task: TaskRequest, signal: AbortSignal): Promise<TaskOutcome> {
    const outcome = await this.#tasks.run(task, signal, () => this.endHopeless());
    // Observers must see all relayed packets before the end of the task.
    this.#relay.flush();
    // Cancel remaining work: it is useless now, and may hold resources that other tasks need.
    if (outcome.status !== 'answered') this.#sendAgents(MESH_TYPES.stop, task.taskId, {});
    return outcome;
  }

  /**
   * Requests every agent's ledger and waits until all are in or the time is up. Call it once, after the last
   * task.
   */
  async settle(): Promise<void> {
    this.#delivery.end();
    this.#isSettling = true;
    this.#authorizer.close();
    this.#sendAgents(MESH_TYPES.settle, 'mesh', {});
    this.#checkSettled();
    const callOff = waitPatiently(AGENT_LIMITS.settleMs, this.#settled.resolve);
    await this.#settled.promise;
    callOff();
  }

  /**
   * Takes back a lost agent that was restarted; it receives packets from now on.
   *
   * @throws MeshError `agent` when it cannot be dialled, or the run is ending
   */
  async readmit(node: MeshNode, signal?: AbortSignal): Promise<void> {
    const link = await dialAgain(node, {
      ...this.#options,
      delivery: this.#delivery,
      patienceMs: RESTART_LIMITS.returnMs,
      signal: signal ?? this.#options.signal,
    });
    const index = this.#links.findIndex((other) => other.node.id === node.id && !other.alive);
    const former = this.#links[index];
    if (former === undefined || this.#isSettling) {
      link.socket.destroy();
      throw new MeshError('agent', `agent ${node.id} (${node.tool}) is no longer awaited`);
    }
    this.formerLinks.push(former);
    this.#awaited.delete(former);
    this.#links[index] = link;
    this.#admit(link);
    this.#updateRouter();
    this.#sendAgents(MESH_TYPES.back, 'mesh', { id: node.id });
  }

  /** Gives up an awaited agent, which will not come back. */
  giveUp(id: string): void {
    for (const link of this.#awaited) {
      if (link.node.id !== id) continue;
      this.#updateRouter();
      this.#sendLost(link);
    }
    this.endHopeless();
  }

  /** Ends the tasks that no remaining agent can answer. */
  endHopeless(): void {
    const { final, isReturning = () => false } = this.#options;
    const lost = this.links.filter((link) => !link.alive);
    if (lost.length === 0) return;
    // If relayed packets are kept for it, a returning agent has missed nothing.
    const alive = this.links.filter((link) => link.alive || this.#delivery.awaits(link));
    const returning = lost.filter((link) => isReturning(link.node.id) && !alive.includes(link));
    this.#tasks.endHopeless(final, alive, returning, lost);
  }

  close(): void {
    this.#relay.flush();
    this.#delivery.end();
    for (const link of this.links) {
      link.alive = false;
      link.socket.destroy();
    }
  }

  #admit(link: Link): void {
    link.onBacklog = (full) => this.#backpressure.check(full);
    link.socket.start(this.#options.maxFrameBytes, (run) => this.#relay.relay(link, run));
    void link.socket.closed.then((fault) => this.#lost(link, fault));
    this.#delivery.admit(link, this.#control);
  }

  #updateRouter(): void {
    this.#options.router.membersChanged(this.#destinations);
  }

  get #destinations(): Link[] {
    return this.links.filter((link) => link.alive || this.#delivery.reaches(link));
  }

  #sendAgents(type: string, taskId: string, payload: JsonObject): void {
    // An agent that was asked for its ledger counts nothing more, so earlier packets go first.
    this.#relay.flush();
    this.#control.send(this.links, type, taskId, payload);
  }

  #takeControl(sender: Link, type: string, payload: JsonObject | undefined, frameBytes: number): void {
    if (type === MESH_TYPES.ack) {
      sender.counts.ackRx += frameBytes;
      this.#delivery.acknowledge(sender, payload);
    } else {
      sender.counts.sessionRx += frameBytes;
      this.#takeBooks(sender, payload);
    }
  }

  #takeBooks(link: Link, payload: JsonObject | undefined): void {
    const result = ledgerReportSchema.safeParse(payload);
    if (result.success) link.ledgerReport = result.data;
    else this.#observer.refused(link.node.id, `its ledger cannot be read: ${formatIssues(result.error)}`, 0);
    this.#checkSettled();
  }

  #checkSettled(): void {
    const isOpen = (link: Link) => link.alive && link.hasLedger && link.ledgerReport === undefined;
    if (this.#isSettling && !this.links.some(isOpen)) this.#settled.resolve();
  }

  #lost(link: Link, fault: MeshError | undefined): void {
    if (!link.alive) return;
    link.alive = false;
    link.fault = fault;
    this.#delivery.lost(link);
    this.#observer.agentLost(link.node, fault?.message ?? 'closed its connection');
    this.#updateRouter();
    // With acknowledged delivery, waiting requesters get the reply when the agent is back.
    if (this.#delivery.awaits(link)) this.#awaited.add(link);
    else this.#sendLost(link);
    this.endHopeless();
    this.#checkSettled();
  }

  #sendLost(link: Link): void {
    this.#awaited.delete(link);
    this.#delivery.abandon(link);
    if (!this.#isSettling) this.#sendAgents(MESH_TYPES.lost, 'mesh', { id: link.node.id });
  }
}
