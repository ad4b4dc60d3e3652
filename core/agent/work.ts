import type { Engine, EngineWork, ModelExchange, ModelUsage } from '../contracts/engine.ts';
import { MeshError } from '../contracts/errors.ts';
import { measureLine } from '../contracts/ledger.ts';
import { type JsonObject, MESH_TYPES, type Packet, parsePacket, toFolderName } from '../contracts/packet.ts';
import type { Emission } from '../contracts/tool.ts';
import type { Warning } from '../contracts/warning.ts';
import { readMonotonicUs } from '../system/clock.ts';
import { readEpochMs } from '../system/log.ts';
import type { FrameLink } from '../wire/frame-link.ts';
import type { AgentLedger } from '../wire/ledger-report.ts';
import type { Received } from './requests.ts';
import type { AgentOptions, SessionTerms } from './session-options.ts';

/** A packet that is ready to send. */
export interface Sendable {
  readonly packet: Packet;
  readonly blob: Uint8Array;
  readonly layerBytes: number;
  readonly encodeUs: number;
}

/** Builds an agent's packets, and sends, logs and counts them. */
export class PacketSender {
  readonly #options: AgentOptions;
  readonly #terms: SessionTerms;
  readonly #socket: FrameLink;
  readonly #ledger: AgentLedger;

  constructor(options: AgentOptions, terms: SessionTerms, socket: FrameLink, ledger: AgentLedger) {
    this.#options = options;
    this.#terms = terms;
    this.#socket = socket;
    this.#ledger = ledger;
  }

  /**
   * Returns the packet that an agent emits because of `cause`, ready to send.
   * @throws MeshError `packet` if it exceeds a frame
   */
  encode(emission: Emission, cause: Packet, tokens: number): Sendable {
    const said = this.#options.rewrite?.(emission, cause) ?? emission;
    return this.encodePacket(this.#packet(said, cause, tokens));
  }

  encodePacket(packet: Packet): Sendable {
    const { codec, maxFrameBytes } = this.#terms;
    const beginUs = readMonotonicUs();
    const blob = codec.encode(packet);
    if (blob.length > maxFrameBytes) {
      throw new MeshError(
        'packet',
        `${packet.type} takes ${blob.length} bytes; a frame has at most ${maxFrameBytes}`,
      );
    }
    const layerBytes = codec.layerBytes?.last ?? 0;
    return { packet, blob, layerBytes, encodeUs: readMonotonicUs() - beginUs };
  }

  /** Sends a packet and logs it whole with its cause and its times: recordings are built from these lines. */
  send(
    { packet, blob, layerBytes, encodeUs }: Sendable,
    received: Omit<Received, 'packet'> & { readonly packet: Pick<Packet, 'id'> },
    work: Pick<Spent, 'toolUs' | 'engineUs'>,
  ): void {
    const { workspace } = this.#options;
    const sentMs = readEpochMs();
    const sentUs = readMonotonicUs();
    const bytes = this.#socket.sendBlob(blob);
    // After sending, so that the ledger does not delay the packet.
    const times = {
      received_us: Math.round(received.receivedUs),
      decode_us: roundTenth(received.decodeUs),
      tool_us: roundTenth(work.toolUs),
      engine_us: roundTenth(work.engineUs),
      encode_us: roundTenth(encodeUs),
      sent_us: Math.round(sentUs),
    };
    workspace.log.info({ dir: 'sent', bytes, cause: received.packet.id, ...times, ...packet }, sentMs);
    workspace.remember(packet.task_id, packet.type, packet.token_used);
    const line = measureLine(this.#terms.codec, packet, blob.length, layerBytes);
    this.#ledger.sent(packet.type, line, { toolUs: work.toolUs, encodeUs });
  }

  /** Sends a packet of the mesh itself, which is neither logged nor counted. */
  sendControl(emission: Emission, cause: Packet): void {
    this.#socket.sendBlob(this.#terms.codec.encode(this.#packet(emission, cause, 0)));
  }

  /** Reports the state of deliveries to the hub; the ledger and the log leave such packets out. */
  acknowledge(payload: JsonObject): void {
    const { id: from } = this.#options;
    // No packet refers to it, so it needs no unique id.
    const envelope = {
      type: MESH_TYPES.ack,
      from,
      id: 'ack',
      task_id: 'mesh',
      token_used: 0,
      ts: Date.now(),
    };
    this.#socket.sendBlob(this.#terms.codec.encode({ ...envelope, payload }));
  }

  #packet(emission: Emission, cause: Packet, tokens: number): Packet {
    const { id, workspace } = this.#options;
    const { numbers, acknowledged } = this.#terms;
    if (emission.recorded !== undefined) return emission.recorded;
    numbers.last += 1;
    // Packet ids are unique in the run, and a restarted agent does not know which ones it had used: the
    // number of restarts tells them apart, since no node id contains a `+`. An agent that is restarted by
    // hand without its memory still finds its outbox.
    const restarts = Math.max(workspace.memory.restarts ?? 0, acknowledged?.outbox.restarts ?? 0);
    const self = restarts === 0 ? id : `${id}+${restarts}`;
    return parsePacket({
      type: emission.type,
      from: id,
      ...(emission.to === undefined ? {} : { to: emission.to }),
      id: `${self}-${numbers.last}`,
      ...(emission.reply_to === undefined ? {} : { reply_to: emission.reply_to }),
      task_id: cause.task_id,
      ...(emission.tag === undefined ? {} : { tag: emission.tag }),
      token_used: tokens,
      ...(emission.log === undefined ? {} : { log_uri: `workspaces/${toFolderName(id)}/${emission.log}` }),
      ts: Date.now(),
      payload: emission.payload,
    });
  }
}

/** Rounds to a tenth of a microsecond; clocks are not more precise. */
function roundTenth(us: number): number {
  return Math.round(us * 10) / 10;
}

/** Effort spent between one packet of a work and the next. `engineUs` is the engine's part of `toolUs`. */
interface Spent {
  readonly tokens: number;
  readonly toolUs: number;
  readonly engineUs: number;
}

/**
 * The work for one packet, from its arrival to the last packet that results from it. A tool that asks others
 * sends packets on the way; each is charged with the effort since the packet before it, so that nothing is
 * counted twice (MP-52).
 */
export class Work {
  readonly engine: Engine;
  /** Aborted when the task ends without this work, or the session ends. */
  readonly signal: AbortSignal;
  /** The packet that began it. */
  readonly begins: Packet;
  readonly #stop = new AbortController();
  #cause: Received;
  #tokens = 0;
  #engineUs = 0;
  #sinceUs = readMonotonicUs();

  /**
   * `hears` receives every reply of a model, however the tool asks for it; `role` is set if the tool names
   * one.
   */
  constructor(
    begins: Received,
    engine: Engine,
    sessionSignal: AbortSignal,
    hears: {
      readonly usage: (usage: ModelUsage, role: string | undefined) => void;
      readonly exchange: (exchange: ModelExchange, role: string | undefined) => void;
      readonly warning: (warning: Warning) => void;
    },
  ) {
    this.#cause = begins;
    this.begins = begins.packet;
    this.signal = AbortSignal.any([sessionSignal, this.#stop.signal]);
    const timed = async <Result>(run: () => Promise<Result>): Promise<Result> => {
      const beginUs = readMonotonicUs();
      try {
        return await run();
      } finally {
        this.#engineUs += readMonotonicUs() - beginUs;
      }
    };
    const heard = (work: EngineWork): EngineWork => ({
      ...work,
      taskId: begins.packet.task_id,
      countUsage(usage) {
        hears.usage(usage, work.role);
        work.countUsage?.(usage);
      },
      onExchange(exchange) {
        hears.exchange(exchange, work.role);
        work.onExchange?.(exchange);
      },
      onWarning(warning) {
        hears.warning(warning);
        work.onWarning?.(warning);
      },
    });
    const { chat } = engine;
    this.engine = {
      ...engine,
      perform: (step, work) => timed(() => engine.perform(step, heard(work))),
      chat: chat && ((request, work) => timed(() => chat(request, heard(work)))),
    };
  }

  /**
   * The packet that causes the next one sent: the packet that began the work, or the last reply to one of its
   * requests.
   */
  get cause(): Received {
    return this.#cause;
  }

  countTokens(count: number): void {
    this.#tokens += count;
  }

  /** Continues after a reply; the time spent waiting for it is not counted as work. */
  goesOn(reply: Received): void {
    this.#cause = reply;
    this.#sinceUs = readMonotonicUs();
  }

  /** Returns the effort spent since the last call. */
  spent(): Spent {
    const nowUs = readMonotonicUs();
    const spent = { tokens: this.#tokens, toolUs: nowUs - this.#sinceUs, engineUs: this.#engineUs };
    this.#tokens = 0;
    this.#engineUs = 0;
    this.#sinceUs = nowUs;
    return spent;
  }

  stop(): void {
    this.#stop.abort();
  }
}
