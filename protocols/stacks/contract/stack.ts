import type { JsonValue, Packet } from '@gaia-mesh/core/contracts/packet.ts';

/**
 * A stack: a protocol as people run it, protocol × transport × implementation. Where an adapter writes a packet into our own frame, a
 * stack carries it in the protocol's own clothes, over a connection of its own: HTTP heads, gRPC frames, task states, TLS.
 *
 * A stack is one value without state. What it serves and what it connects live in processes of their own, so that the CPU
 * time and the bytes of a process are those of its side. To add one: a file in `protocols/stacks/`, a line in `registry.ts`.
 */
export interface Stack {
  /** `<protocol>/<transport>`, as `--stacks` takes it: `a2a/jsonrpc`, `mcp/stdio`, `json/http2`. */
  readonly name: string;
  /** What its messages are: `json`, `a2a`, `mcp`; in the mesh's own frames that of the adapter. Stacks of one protocol differ in transport. */
  readonly protocol: string;
  readonly transport: 'tcp' | 'unix' | 'stdio' | 'http1' | 'http2' | 'websocket' | 'grpc';
  /** `sdk`: the protocol's official packages at both ends, loaded only when it is used. `bare`: the least that speaks it, on Node's own modules. */
  readonly implementation: 'sdk' | 'bare';
  readonly traits: StackTraits;

  /**
   * Serves on the loopback until it is closed, on a port or path of its own choice.
   *
   * @throws MeshError `config` when a package is missing (it says which to install) or a setting is none of its own
   */
  serve(inbox: Inbox, settings: StackSettings): Promise<StackServer>;

  /**
   * A client of the server at `address`, with its session set up: agent card read, versions agreed, tools listed. What the
   * set-up took is in {@link StackClient.wire} when this resolves.
   */
  connect(address: string, settings: StackSettings): Promise<StackClient>;
}

/** What a protocol can do by itself; what it cannot is written down in `docs/stacks.md`, and its cost counted. */
export interface StackTraits {
  /** Where a reply travels: in the exchange that asked for it, or in an exchange of its own. */
  readonly replies: 'same exchange' | 'own exchange';
  /**
   * How the arrival of a message that nobody answers becomes known to its sender. A silent protocol gives every answer the request's id as
   * `reply_to`, unless the inbox did.
   */
  readonly oneWay: 'silent' | 'acknowledged';
  /** Ways of handing over a result that comes later than the request's own answer could; the first is the default. */
  readonly later: readonly [LaterResult, ...LaterResult[]];
  readonly hasTls: boolean;
  /** Bytes of the largest message that its implementation takes by default; null where it states none. */
  readonly largestMessageBytes: number | null;
}

/**
 * How a result comes that takes its time. `hold`: the exchange stays open. `stream`: it stays open and says how the work goes on.
 * `subscribe`: a second exchange follows the task. `poll`: asked for again and again. `push`: the server calls the client back.
 */
export type LaterResult = 'hold' | 'stream' | 'subscribe' | 'poll' | 'push';

/** The factors of an experiment: everything that two ends may be set to, the same for every stack where it applies. */
export interface StackSettings {
  /** TLS 1.3 with a certificate made for the session; null for none. */
  readonly tls: TlsIdentity | null;
  /** Connections that a client keeps at most; 1 has every exchange wait for the one before where the transport cannot multiplex. */
  readonly connections: number;
  /** Milliseconds that an idle connection is kept; 0 closes it after each exchange. */
  readonly keepAliveMs: number;
  /** Nagle's algorithm is off. */
  readonly noDelay: boolean;
  readonly later: LaterResult;
  /** Milliseconds between two polls, where `later` is `poll`. */
  readonly pollMs: number;
  /** Whether A2A's answers bring the history of their task along, in which the request is; the protocol does unless told not to. */
  readonly history: boolean;
  /** How an MCP tool hands over its result. */
  readonly results: 'text' | 'structured' | 'both';
  /** Milliseconds after which an exchange has failed. */
  readonly deadlineMs: number;
  /**
   * Port of a forwarder on the loopback that clients are sent to: it stands in the server's address and in whatever the server says of
   * itself (agent cards). Without it, the port that the server listens on. Where there are no ports it is not looked at. A client that
   * listens for answers is given one of its own.
   */
  readonly advertisedPort?: number | undefined;
}

export interface TlsIdentity {
  readonly key: string;
  readonly cert: string;
}

/**
 * What a server does with a packet: the packets that answer it, none for one that nobody answers. It is called once a packet,
 * several at a time; a rejection becomes the protocol's own error.
 */
export interface Inbox {
  (packet: Packet, signal: AbortSignal): Promise<readonly Packet[]>;
  /** For a server that runs in processes of its own, such as one on stdio; without it each packet is asked for where the inbox is. */
  readonly source?: InboxSource | undefined;
}

/** Where another process finds the same inbox: it imports `module`, and calls its `inboxOf` with `data`. */
export interface InboxSource {
  readonly module: string;
  readonly data: JsonValue;
}

export interface StackServer {
  /**
   * What `connect` takes. A URL, with `127.0.0.1:<port>` in it where there is a port, `unix:<path>` for a socket file; for `stdio`, where
   * the client starts the server, JSON of `{ command, args }`.
   */
  readonly address: string;
  /** Where it listens: {@link StackSettings.advertisedPort} is somebody else's. */
  readonly port?: number | undefined;
  wire(): WireBytes;
  /** Where clients start what serves: has those processes say what they have counted, after which {@link wire} is up to date. */
  readonly ask?: ((collect: boolean) => Promise<ServingProcesses>) | undefined;
  close(): Promise<void>;
}

/** What the processes that serve have come to so far. */
interface ServingProcesses {
  /** Packets that inboxes which they loaded themselves took, and those that were refused. */
  readonly packets: number;
  readonly refused: number;
  readonly cpuUs: { readonly user: number; readonly system: number };
  /** Of those that run; the heap after a collection if one was asked for. */
  readonly rssBytes: number;
  readonly heapBytes: number;
}

export interface StackClient {
  /**
   * Carries one packet to the server and resolves with the packets that answered it, when the protocol has said that the
   * exchange is over.
   *
   * @param answers how many packets answer it, as who sends it expects; 1 unless given. A protocol that is silent about one-way packets
   * waits for so many, and with 0 has only written the packet when this resolves; all others learn from the server when that was all
   * @throws MeshError `packet` for an answer that the protocol does not allow, `agent` for a connection or deadline that failed
   */
  exchange(packet: Packet, signal: AbortSignal, answers?: number): Promise<readonly Packet[]>;
  /** Where it listens itself, if answers come as exchanges of their own. */
  readonly port?: number | undefined;
  wire(): WireBytes;
  close(): Promise<void>;
}

/**
 * Bytes of one side so far. Every byte of its sockets or pipes is on one line:
 *
 * `raw = tls + head + body`, where the messages that bodies carry are `envelope + payload`, which is for who knows the packets
 * to split: payload is the UTF-8 length of `JSON.stringify(packet.payload)`. Exact whenever nothing is under way; how each line becomes
 * known is in `meter/wire-meter.ts`, and `metered` of `meter/metered.ts` counts for every stack.
 */
export interface WireBytes {
  /** Connections, or pairs of pipes, that were opened. */
  readonly connections: number;
  readonly sent: DirectionBytes;
  readonly received: DirectionBytes;
}

export interface DirectionBytes {
  /** As the operating system's handles count them. */
  readonly raw: number;
  /** Handshakes and records: what TLS puts around the rest. 0 without TLS. */
  readonly tls: number;
  /** Request and status lines, header fields, chunk and frame heads, flow control, lengths: what the transport puts around messages. */
  readonly head: number;
  /** The messages themselves. */
  readonly body: number;
  /** Messages, so that heads can be told per message. */
  readonly messages: number;
}
