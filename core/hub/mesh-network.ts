import type { Codec } from '../adapter.ts';
import { BACK_TYPE, booksSchema, HANDED_ON_TYPE, LOST_TYPE, SETTLE_TYPE, STOP_TYPE } from '../books.ts';
import { sharedId } from '../copy-id.ts';
import { ACK_TYPE, receiptIn } from '../delivery.ts';
import { MeshError } from '../errors.ts';
import type { LedgerLine } from '../ledger.ts';
import { RETURN_PATIENCE_MS, SETTLE_TIMEOUT_MS } from '../limits.ts';
import { issuesOf, type JsonObject } from '../packet.ts';
import { Admission } from './admission.ts';
import { Backpressure } from './backpressure.ts';
import { type ChooseCopy, Copies } from './copies.ts';
import { AcknowledgedDelivery } from './delivery/acknowledged-delivery.ts';
import type { Letter } from './delivery/mailbox.ts';
import { type DialOptions, dialAgain, dialAgents } from './dial.ts';
import { FaultyDelivery, type FaultyDeliveryOptions } from './faults/faulty-delivery.ts';
import { HubVoice } from './hub-voice.ts';
import type { Link, MeshNode } from './link.ts';
import type { MeshObserver } from './mesh-observer.ts';
import { OpenTasks, type TaskRequest } from './open-tasks.ts';
import { Relay } from './relay.ts';
import { RelayNews } from './relay-news.ts';
import type { Router } from './routing.ts';
import type { TaskClock, TaskOutcome } from './task-clock.ts';
import type { TypeCounts } from './type-counts.ts';
import { faultyWay, keptWay, straightWay, type Way } from './ways.ts';

export interface MeshNetworkOptions extends Omit<DialOptions, 'delivery'> {
  /** The only node that may tag a final answer; null where there are no tasks, and a tag is the agents' own business. */
  readonly final: string | null;
  readonly router: Router;
  readonly observer: MeshObserver;
  /** A destination that takes nothing for so long, with a full queue, is cut off. */
  readonly stallTimeoutMs?: number;
  /** Only for runs with faults: deliveries are not made straight then. */
  readonly faults?: FaultyDeliveryOptions;
  /** Whether a lost agent is being started again, to be readmitted. */
  readonly isReturning?: (id: string) => boolean;
  /** Packets are kept until they are acknowledged; see `core/delivery.ts`. */
  readonly acknowledges?: boolean;
  /** Who of an agent's copies gets a task, if that is known already. */
  readonly chooseCopy?: ChooseCopy;
}

/**
 * The hub: the centre of the star. It dials the agents, broadcasts each task's document, and sends every packet that
 * comes from one agent to the others, byte for byte as it came. It counts and keeps the clocks; what packets say is not its
 * business (MP-13). This file knows who is there: `admission.ts` who may say what, `ways.ts` how it gets to the others,
 * `open-tasks.ts` what is being worked on, `copies.ts` who of those who share work has which task.
 */
export class MeshNetwork {
  /** One link an agent, the one it has now. */
  readonly links: readonly Link[];
  /** Lost links of agents that were readmitted. */
  readonly formerLinks: Link[] = [];
  /** Only in runs with faults. */
  readonly faults: FaultyDelivery | undefined;
  /** Only where deliveries are acknowledged. */
  readonly delivery: AcknowledgedDelivery | undefined;
  readonly #options: MeshNetworkOptions;
  /** What {@link links} shows. */
  readonly #links: Link[];
  readonly #voice: HubVoice;
  readonly #backpressure: Backpressure;
  readonly #admission: Admission;
  readonly #relay: Relay;
  readonly #way: Way;
  readonly #tasks: OpenTasks;
  readonly #clocks = new Map<string, TaskClock>();
  readonly #copies: Copies | undefined;
  readonly #router: Router;
  #settled: (() => void) | undefined;

  private constructor(options: MeshNetworkOptions, links: Link[], codec: Codec) {
    this.#options = options;
    this.#links = links;
    this.links = links;
    this.#voice = new HubVoice(codec);
    const backpressure = new Backpressure(links, options.stallTimeoutMs);
    this.#backpressure = backpressure;
    if (options.faults !== undefined) {
      this.faults = new FaultyDelivery(options.faults, (link) => backpressure.check(link));
    }
    if (options.acknowledges === true) {
      this.delivery = new AcknowledgedDelivery({
        write: (letter, link) => this.#write(letter, link),
        tellTaken: (link, taken) => this.#voice.tellTaken(link, taken),
        isLossy: isLossy(options),
      });
    }
    const { faults, delivery } = this;
    const { final, observer, maxFrameBytes } = options;
    const copies = Copies.among(links, options.chooseCopy);
    this.#copies = copies;
    this.#router = copies?.around(options.router) ?? options.router;
    const isEachNoted = observer.packet !== undefined || faults !== undefined || delivery !== undefined;
    const news = isEachNoted ? new RelayNews(observer) : undefined;
    this.#admission = new Admission({
      final,
      router: this.#router,
      observer,
      tasks: this.#clocks,
      news,
      delivery,
      hearMesh: (sender, type, payload, frameBytes) => this.#hearMesh(sender, type, payload, frameBytes),
    });
    this.#relay = new Relay(this.#admission, backpressure, news === undefined);
    if (news !== undefined && delivery !== undefined) this.#way = keptWay(delivery, this.#admission, news);
    else if (news !== undefined && faults !== undefined)
      this.#way = faultyWay(faults, this.#admission, news, backpressure);
    else this.#way = straightWay(this.#relay, news);
    this.#tasks = new OpenTasks({
      clocks: this.#clocks,
      codec,
      voice: this.#voice,
      way: this.#way,
      backpressure,
      observer,
      maxFrameBytes,
      destinations: () => this.#destinations,
      copies,
    });
    this.#tellRouter();
    for (const link of links) this.#listen(link);
  }

  /** Connects to every agent; throws as {@link dialAgents} does. */
  static async connect(options: MeshNetworkOptions): Promise<MeshNetwork> {
    const { links, codec } = await dialAgents(dialOptions(options, () => null));
    return new MeshNetwork(options, links, codec);
  }

  get typeCounts(): ReadonlyMap<string, TypeCounts> {
    return this.#admission.typeCounts;
  }

  /** What the hub itself sent: one line a packet, whatever the number of its copies. */
  get ownLine(): LedgerLine {
    return this.#tasks.ownLine;
  }

  /** Bytes of all copies of the documents. */
  get initBytes(): number {
    return this.#tasks.initBytes;
  }

  /**
   * Broadcasts a task's document to all agents and waits for its end: the final answer, the deadline, or `signal`.
   * Several tasks may run at the same time.
   */
  async runTask(task: TaskRequest, signal: AbortSignal): Promise<TaskOutcome> {
    const outcome = await this.#tasks.run(task, signal, () => this.endHopeless());
    // Whoever still works on it works for nothing, and may hold what other tasks wait for.
    if (outcome.status !== 'answered') this.#tellAgents(STOP_TYPE, task.taskId, {});
    return outcome;
  }

  /** Asks every agent for its books and waits until they are in, or the time is up. Call it once, after the last task. */
  async settle(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.delivery?.end();
    this.#settled = resolve;
    this.#admission.close();
    this.#tellAgents(SETTLE_TYPE, 'mesh', {});
    this.#checkSettled();
    const timer = setTimeout(resolve, SETTLE_TIMEOUT_MS);
    await promise;
    clearTimeout(timer);
  }

  /**
   * Takes a lost agent back that was started again: it hears the packets from now on.
   *
   * @throws MeshError `agent` when it cannot be dialled, or the run is ending
   */
  async readmit(node: MeshNode, signal?: AbortSignal): Promise<void> {
    const have = (id: string) => this.delivery?.lastOf(id) ?? null;
    const options = dialOptions(this.#options, have);
    const link = await dialAgain(node, {
      ...options,
      patienceMs: RETURN_PATIENCE_MS,
      ...(signal === undefined ? {} : { signal }),
    });
    const index = this.#links.findIndex((other) => other.node.id === node.id && !other.alive);
    const former = this.#links[index];
    if (former === undefined || this.#settled !== undefined) {
      link.socket.destroy();
      throw new MeshError('agent', `agent ${node.id} (${node.tool}) is not missed any more`);
    }
    this.formerLinks.push(former);
    this.#links[index] = link;
    this.#listen(link);
    this.#tellRouter();
    this.#tellAgents(BACK_TYPE, 'mesh', { id: sharedId(node.id) });
  }

  /** An agent that was awaited does not come back after all. */
  giveUp(id: string): void {
    const link = this.links.find(({ node, alive }) => node.id === id && !alive);
    if (link !== undefined && this.delivery !== undefined) {
      this.#tellRouter();
      this.#tellLost(link);
    }
    this.endHopeless();
  }

  /** Ends the tasks that nobody is left to answer. */
  endHopeless(): void {
    const { final, isReturning = () => false } = this.#options;
    const alive = this.links.filter((link) => link.alive);
    if (alive.length === this.links.length) return;
    const lost = this.links.filter((link) => !link.alive);
    const returning = lost.filter((link) => isReturning(link.node.id));
    // Nothing is missed where what was relayed is kept.
    if (this.delivery !== undefined) alive.push(...returning.splice(0));
    this.#tasks.endHopeless(final, alive, returning, lost);
  }

  close(): void {
    this.#relay.flush();
    this.delivery?.end();
    for (const link of this.links) {
      link.alive = false;
      link.socket.destroy();
    }
  }

  #listen(link: Link): void {
    link.socket.start(this.#options.maxFrameBytes, (run) => this.#way.relay(link, run));
    void link.socket.closed.then((fault) => this.#lost(link, fault));
    this.faults?.outages.admit(link);
    this.delivery?.admit(link, link.done);
  }

  #tellRouter(): void {
    this.#copies?.membersChanged(this.links.filter((link) => link.alive || this.#isAwaited(link)));
    this.#router.membersChanged(this.#destinations);
  }

  /** Faults keep the lost ones, too: what they miss is counted. So do mailboxes, for those who come back. */
  get #destinations(): Link[] {
    return this.links.filter((link) => link.alive || this.faults !== undefined || this.#isAwaited(link));
  }

  /** Whether what a lost agent misses is kept for it. */
  #isAwaited({ node }: Link): boolean {
    return this.delivery !== undefined && this.#options.isReturning?.(node.id) === true;
  }

  #tellAgents(type: string, taskId: string, payload: JsonObject): void {
    // Whoever has heard that it is to hand in its books counts nothing any more; and what came first goes first.
    this.#relay.flush();
    this.#voice.tell(this.links, type, taskId, payload);
  }

  /** What a mailbox delivers, at once or again. */
  #write({ from, frame, head }: Letter, link: Link): void {
    if (this.faults === undefined) link.deliver(frame, 1);
    else this.faults.deliver(from, link, frame, head);
    this.#backpressure.check(link);
  }

  #hearMesh(sender: Link, type: string, payload: JsonObject | undefined, frameBytes: number): void {
    if (type === ACK_TYPE && this.delivery !== undefined) {
      sender.counts.ackRx += frameBytes;
      const receipt = receiptIn(payload);
      if (receipt !== undefined) this.delivery.hear(sender, receipt);
      return;
    }
    sender.counts.sessionRx += frameBytes;
    this.#takeBooks(sender, payload);
  }

  #takeBooks(link: Link, payload: JsonObject | undefined): void {
    const result = booksSchema.safeParse(payload);
    if (result.success) link.books = result.data;
    else
      this.#options.observer.refused?.(
        link.node.id,
        `its books cannot be read: ${issuesOf(result.error)}`,
        0,
      );
    this.#checkSettled();
  }

  #checkSettled(): void {
    const isOpen = (link: Link) => link.alive && link.keepsBooks && link.books === undefined;
    if (!this.links.some(isOpen)) this.#settled?.();
  }

  #lost(link: Link, fault: MeshError | undefined): void {
    if (!link.alive) return;
    link.alive = false;
    link.fault = fault;
    this.delivery?.lost(link);
    this.#options.observer.agentLost?.(link.node, fault?.message ?? 'closed its connection');
    this.#tellRouter();
    // Who waits for its reply gets that when it is back.
    if (!this.#isAwaited(link)) this.#tellLost(link);
    this.endHopeless();
    this.#checkSettled();
  }

  #tellLost(link: Link): void {
    this.delivery?.abandon(link);
    const hasWork = (taskId: string) =>
      link.subscribes.some((type) => this.#clocks.get(taskId)?.seenTypes.has(type));
    const handedOn = this.#copies?.handOn(link, hasWork);
    if (this.#settled !== undefined) return;
    const lost = { id: sharedId(link.node.id) };
    if (handedOn === undefined) this.#tellAgents(LOST_TYPE, 'mesh', lost);
    else for (const taskId of handedOn) this.#tellAgents(HANDED_ON_TYPE, taskId, lost);
  }
}

/** Whether deliveries get lost on living connections. */
function isLossy({ faults }: MeshNetworkOptions): boolean {
  return faults !== undefined && faults.faults.length > 0;
}

function dialOptions(options: MeshNetworkOptions, lastOf: (id: string) => string | null): DialOptions {
  if (options.acknowledges !== true) return options;
  const lossy = isLossy(options) ? { lossy: true as const } : {};
  return { ...options, delivery: (id) => ({ mode: 'acknowledged', have: lastOf(id), ...lossy }) };
}
