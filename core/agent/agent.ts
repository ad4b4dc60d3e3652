import type { Codec, ProtocolAdapter } from '../contracts/adapter.ts';
import { MeshError, toErrorMessage } from '../contracts/errors.ts';
import { HANDSHAKE_LIMITS } from '../contracts/limits.ts';
import { MESH_TYPES } from '../contracts/packet.ts';
import { callType, toResultType } from '../contracts/tool.ts';
import { warmUp } from '../system/process/warm-up.ts';
import { Sampled } from '../system/sampled.ts';
import type { Listener } from '../transports/transport.ts';
import type { FrameLink } from '../wire/frame-link.ts';
import { answerHub } from '../wire/handshake.ts';
import { Outbox } from './outbox.ts';
import { AgentSession } from './session.ts';
import type { AgentOptions, SessionTerms } from './session-options.ts';

/** A connection in the handshake. */
interface Pending {
  readonly socket: FrameLink;
  /** Set when the other end has proved that it knows the run's secret. */
  isKnown: boolean;
}

/** Result of a successful handshake. */
type Agreement = Awaited<ReturnType<typeof answerHub>> & { readonly codec: Codec };

/**
 * One agent: it listens on its port, proves itself to the hub that connects, and works for that hub until the
 * connection ends. Then it waits for the next hub. It serves one hub at a time; a peer that cannot prove
 * itself gets nothing and holds nothing.
 */
export class Agent {
  readonly #options: AgentOptions;
  readonly #sockets = new Set<FrameLink>();
  /** Adapters that have carried a packet here. */
  readonly #warm = new Set<string>();
  /** Outbox of the last run with acknowledged delivery. */
  #outbox: Outbox | undefined;
  #numbering = { runId: '', last: 0 };
  #listener: Listener | undefined;
  #session: AgentSession | undefined;
  /** The run of the last session. */
  #lastRun: string | undefined;
  /** Connections in the handshake, the oldest first. */
  readonly #pending = new Set<Pending>();
  readonly #refusals = new Sampled();

  private constructor(options: AgentOptions) {
    this.#options = options;
  }

  /** @throws MeshError `io` when it cannot listen there */
  static async listen(options: AgentOptions): Promise<Agent> {
    await options.tool.prepare?.({ engine: options.engine, workspace: options.workspace.directory });
    const agent = new Agent(options);
    const { listen, workspace } = options;
    agent.#listener = await listen({
      accept: (socket) => agent.#accept(socket),
      fault: (message) => workspace.log.warn({ dir: 'session', message }),
    });
    return agent;
  }

  get port(): number {
    return this.#listener?.port ?? 0;
  }

  /** Description of the address it listens on, for people. */
  get where(): string {
    return this.#listener?.where ?? '';
  }

  /** Ends the session and frees the port. */
  async stop(): Promise<void> {
    this.#session?.end();
    for (const socket of this.#sockets) socket.destroy();
    this.#outbox?.close();
    await this.#listener?.close();
    this.#options.workspace.close();
  }

  #accept(socket: FrameLink): void {
    if (!this.#hasRoom()) {
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    void socket.closed.then(() => this.#sockets.delete(socket));
    void this.#serve(socket);
  }

  /**
   * Makes room by closing the oldest connection that has proved nothing, so that no number of strangers keeps
   * a hub out.
   */
  #hasRoom(): boolean {
    if (this.#pending.size < HANDSHAKE_LIMITS.pending) return true;
    const stranger = [...this.#pending].find(({ isKnown }) => !isKnown);
    if (stranger === undefined) return false;
    this.#pending.delete(stranger);
    stranger.socket.destroy(
      new MeshError(
        'handshake',
        'there are too many connections in the handshake, and this one waited longest',
      ),
    );
    return true;
  }

  async #warmAdapter(name: string): Promise<ProtocolAdapter> {
    const adapter = await this.#options.resolveAdapter(name);
    if (!this.#warm.has(name)) warmUp(adapter);
    this.#warm.add(name);
    return adapter;
  }

  /** Returns the types that the agent receives, including replies, and the types that it may send. */
  #packetTypes(): { subscribes: string[]; emits: string[] } {
    const { subscribes, tool, partners } = this.#options;
    const asked = [...new Set(partners.map((partner) => partner.tool))];
    return {
      subscribes: [...new Set([...subscribes, ...asked.map(toResultType)])],
      emits: [...new Set([...tool.emits, ...asked.map(callType), MESH_TYPES.ledger])],
    };
  }

  /** Returns the outbox of a run and changes nothing, because the peer may still be a stranger. */
  #outboxOf(runId: string): Outbox {
    const present = this.#outbox;
    if (present?.runId === runId && !present.hasFailed) return present;
    return new Outbox(this.#options.workspace.directory, runId);
  }

  #beginWith(outbox: Outbox, have: string | null): void {
    const present = this.#outbox;
    if (present !== outbox) {
      // The state that this handshake read may be stale by now.
      if (present?.runId === outbox.runId && !present.hasFailed)
        throw new MeshError('handshake', `run ${outbox.runId} has connected twice`);
      present?.close();
    }
    this.#outbox = outbox;
    outbox.begin(have);
  }

  #termsOf({ codec, maxFrameBytes, session, delivery }: Agreement, outbox: Outbox | undefined): SessionTerms {
    const { runId } = session;
    if (this.#numbering.runId !== runId) this.#numbering = { runId, last: 0 };
    const terms = { codec, maxFrameBytes, runId, numbers: this.#numbering };
    if (delivery === undefined || outbox === undefined) return terms;
    return { ...terms, acknowledged: { outbox, isLossy: delivery.lossy === true } };
  }

  async #serve(socket: FrameLink): Promise<void> {
    const { log } = this.#options.workspace;
    const pending: Pending = { socket, isKnown: false };
    this.#pending.add(pending);
    let outbox: Outbox | undefined;
    const agreed = await answerHub(socket, {
      node: this.#options.id,
      tool: this.#options.tool.name,
      adapter: this.#options.adapter,
      secret: this.#options.secret,
      ...this.#packetTypes(),
      resolveAdapter: (name) => this.#warmAdapter(name),
      onTicket: () => {
        pending.isKnown = true;
      },
      isBusy: () => this.#session !== undefined,
      delivery: (runId) => {
        outbox = this.#outboxOf(runId);
        return { done: outbox.lastDone };
      },
      begin: (have) => {
        if (outbox !== undefined) this.#beginWith(outbox, have);
      },
    })
      // The offers of the other members may be invalid.
      .then((agreement) => ({ ...agreement, codec: agreement.opener.open(agreement.session) }))
      .catch((error: unknown) => {
        const leftOut = this.#refusals.next();
        if (leftOut !== undefined)
          log.warn({ dir: 'session', refused: toErrorMessage(error), left_out: leftOut });
        socket.end();
        return undefined;
      });
    this.#pending.delete(pending);
    if (agreed === undefined) {
      // A refused peer that does not hang up would otherwise keep its connection for ever.
      setTimeout(() => socket.destroy(), 1000).unref();
      return;
    }
    const session = new AgentSession(this.#options, socket, this.#termsOf(agreed, outbox));
    this.#session = session;
    this.#listener?.setBusy(true);
    // If the agent stays up, the next archive holds the next run alone; the last run has its own archive.
    const { runId } = agreed.session;
    if (this.#lastRun !== undefined && this.#lastRun !== runId) log.restart();
    this.#lastRun = runId;
    log.info({ dir: 'session', began: runId, adapter: agreed.adapter.name });
    socket.start(agreed.maxFrameBytes, (run) => session.receive(run));
    const fault = await socket.closed;
    session.end();
    this.#session = undefined;
    this.#listener?.setBusy(false);
    log.info({
      dir: 'session',
      ended: runId,
      fault: fault?.message,
    });
  }
}
