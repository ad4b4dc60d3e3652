import type { JsonValue, Packet } from '@gaia-mesh/core/contracts/packet.ts';
import type { ProcessCounts } from '../control-channel.ts';
import type { WireBytes } from './wire-sum.ts';

/**
 * A stack is a protocol as people run it: protocol × transport × implementation. An adapter writes a packet
 * into the mesh's own frame; a stack carries it in the protocol's own form, over a connection of its own:
 * HTTP heads, gRPC frames, task states, TLS.
 *
 * A stack is one value without state. Its servers and clients live in processes of their own, so that the CPU
 * time and the bytes of a process are those of its side. To add one, write a file in `protocols/stacks/` and
 * a line in `registry.ts`.
 */
export interface Stack {
  /** `<protocol>/<transport>`, as `--stacks` takes it: `a2a/jsonrpc`, `mcp/stdio`, `json/http1`. */
  readonly name: string;
  /**
   * Format of its messages: `json`, `a2a`, `mcp`; in the mesh's own frames that of the adapter. Stacks of one
   * protocol differ in transport.
   */
  readonly protocol: string;
  readonly transport: string;
  /**
   * `sdk`: the protocol's official packages at both ends, which are loaded with the stack. `bare`: the minimum that speaks
   * it, on Node's own modules. `python`, `go`: the official package of that language, in a process of its own.
   */
  readonly implementation: Implementation;
  readonly traits: StackTraits;

  /**
   * Serves on the loopback until it is closed, on a port or path of its own choice.
   *
   * @throws MeshError `config` if a setting is not supported
   */
  serve(inbox: Inbox, settings: StackSettings): Promise<StackServer>;

  /**
   * Connects to the server at `address` and sets up the session: reads the agent card, agrees on versions,
   * lists the tools. {@link StackClient.wire} includes the bytes of the set-up when this resolves.
   */
  connect(address: string, settings: StackSettings): Promise<StackClient>;
}

/** Implementations of a stack's ends: see {@link Stack.implementation}. */
export const IMPLEMENTATIONS = ['sdk', 'bare', 'python', 'go'] as const;

type Implementation = (typeof IMPLEMENTATIONS)[number];

/** Capabilities of a protocol, by which the contract chooses its checks. */
export interface StackTraits {
  /**
   * A protocol acknowledges a message without an answer to its sender, or is silent. A silent protocol gives
   * every answer the request's id as `reply_to`, unless the inbox did.
   */
  readonly oneWay: 'silent' | 'acknowledged';
  readonly hasTls: boolean;
  /** Settings of connections that its implementation decides by itself; absent if it takes all of them. */
  readonly fixed?: readonly ('connections' | 'keepAliveMs')[] | undefined;
  /** Bytes of the largest message that its implementation takes; absent if it takes those of the mesh's largest frame. */
  readonly largestMessageBytes?: number | undefined;
  /** Nested levels that its implementation takes in a payload; absent if it takes as many as a packet may have. */
  readonly deepestPayload?: number | undefined;
  /** True if its implementation makes nothing of empty lists in payloads. */
  readonly losesEmptyLists?: boolean | undefined;
}

/** The factors of an experiment: all settings of two ends, the same for every stack where they apply. */
export interface StackSettings {
  /** TLS 1.3 with a certificate made for the session; null for none. */
  readonly tls: TlsIdentity | null;
  /**
   * Maximum number of a client's connections; with 1, every exchange waits for the previous one where the
   * transport cannot multiplex.
   */
  readonly connections: number;
  /** Milliseconds for which an idle connection is kept; 0 closes it after each exchange. */
  readonly keepAliveMs: number;
  /** Milliseconds after which an exchange has failed. */
  readonly deadlineMs: number;
  /** False lets a server in another language do without the forwarder that counts its bytes; true by default. */
  readonly countsBytes?: boolean | undefined;
  /**
   * Port of a forwarder on the loopback that stands between client and server: it replaces the server's own
   * port in its address and in the descriptions of itself (agent cards). Transports without ports ignore it.
   */
  readonly advertisedPort?: number | undefined;
}

/**
 * Time in which a session is set up, however short an exchange may be: a server on stdio, or one in another
 * language, is a process that starts first.
 */
export const SESSION_TIMEOUT_MS = 10_000;

/** A certificate and its key, in PEM. */
export interface TlsIdentity {
  readonly key: string;
  readonly cert: string;
}

/**
 * A server's work on a packet: returns the packets that answer it, or none. It is called once a packet,
 * several at a time; a rejection becomes the protocol's own error.
 */
export interface Inbox {
  (packet: Packet, signal: AbortSignal): Promise<readonly Packet[]>;
  /**
   * Source for a server that runs in processes of its own, such as one on stdio; without it each packet
   * travels to the process of the inbox.
   */
  readonly source?: InboxSource | undefined;
}

/** Instructions for another process to make the same inbox: it imports `module`, and calls its `inboxOf` with `data`. */
export interface InboxSource {
  readonly module: string;
  readonly data: JsonValue;
}

export interface StackServer {
  /**
   * Address for `connect`: a URL, with `127.0.0.1:<port>` in it where there is a port; `unix:<path>` for a
   * socket file; for `stdio`, where the client starts the server, JSON of `{ command, args }`.
   */
  readonly address: string;
  /** Port on which it listens itself, unlike {@link StackSettings.advertisedPort}. */
  readonly port?: number | undefined;
  /** Returns null if its bytes are not counted, as those of a server in another language may be. */
  wire(): WireBytes | null;
  /**
   * Collects the counts of serving processes, so that {@link wire} is up to date. It is absent where the server is in
   * this process.
   */
  readonly ask?: (() => Promise<Omit<ProcessCounts, 'wire'>>) | undefined;
  close(): Promise<void>;
}

/** A load for a client in a process of its own: see `playSchema` of `evaluation/compare/stacks/peers/protocol.ts`. */
interface RemoteLoad {
  /** The planned exchanges; the same object is sent once. */
  readonly exchanges: readonly { readonly request: Packet; readonly replies: readonly Packet[] }[];
  /** Index of the first exchange. */
  readonly first: number;
  readonly load: object;
}

export interface StackClient {
  /**
   * Carries one packet to the server and resolves with its answers when the protocol has said that the
   * exchange is over.
   *
   * @param answers number of answers that the sender expects; 1 unless given. A protocol that is silent about
   * one-way packets waits for this number, and with 0 has only written the packet when this resolves; all
   * others learn from the server when all answers have come
   * @throws MeshError `packet` for an answer that the protocol does not allow, `agent` for a failed
   * connection or deadline
   */
  exchange(packet: Packet, signal: AbortSignal, answers?: number): Promise<readonly Packet[]>;
  /** Returns null if its bytes are not counted, as in another language: the server's side counts. */
  wire(): WireBytes | null;
  /** Collects the totals of the client's process, as the server's {@link StackServer.ask}; absent if it is this one. */
  readonly ask?: (() => Promise<Omit<ProcessCounts, 'wire'>>) | undefined;
  /** Plays a load in the client's own process; absent if that is this one. */
  readonly play?: ((load: RemoteLoad) => Promise<unknown>) | undefined;
  close(): Promise<void>;
}
