import net from 'node:net';
import { type Codec, readHead } from '@gaia-mesh/core/contracts/adapter.ts';
import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import type { Link } from '@gaia-mesh/core/hub/link.ts';
import { MeshNetwork, type MeshNetworkOptions } from '@gaia-mesh/core/hub/mesh-network.ts';
import { createRouter, type Routing } from '@gaia-mesh/core/hub/routing.ts';
import { trackConnections } from '@gaia-mesh/core/transports/tcp/forwarder.ts';
import { FrameSocket } from '@gaia-mesh/core/transports/tcp/frame-socket.ts';
import type { FrameRun } from '@gaia-mesh/core/wire/frame.ts';
import { answerHub } from '@gaia-mesh/core/wire/handshake.ts';
import { loadAdapter } from '@gaia-mesh/protocols/registry.ts';
import { listenOnPlace } from '@gaia-mesh/stacks/listen.ts';
import { Defect, tryCall } from './fuzz.ts';

/** Secret of the run. */
const SECRET = 'known to the members';

/** An agent of a live mesh after a good handshake: it receives packets, and writes on request. */
export class MeshMember {
  readonly id: string;
  readonly heard: Packet[] = [];
  /** Fault that it found in what the hub sent. */
  fault: unknown;
  port = 0;
  close: () => Promise<void> = async () => undefined;
  #socket: net.Socket | undefined;
  #codec: Codec | undefined;
  #handshakeBytes = 0;
  readonly #joined = Promise.withResolvers<void>();

  private constructor(id: string) {
    this.id = id;
  }

  static async listen(id: string): Promise<MeshMember> {
    const member = new MeshMember(id);
    const { port, close } = await listen((socket) => {
      member.#join(socket).then(member.#joined.resolve, member.#joined.reject);
    });
    member.port = port;
    member.close = close;
    return member;
  }

  /** Settles when its part of the handshake is done: the hub's may be done before. */
  get joined(): Promise<void> {
    return this.#joined.promise;
  }

  get socket(): net.Socket {
    if (this.#socket === undefined) throw new Defect(`no hub has dialled ${this.id}`);
    return this.#socket;
  }

  /** Bytes that it has written since the handshake. */
  get bytesWritten(): number {
    return this.socket.bytesWritten - this.#handshakeBytes;
  }

  encode(packet: Packet): Uint8Array {
    if (this.#codec === undefined) throw new Defect(`${this.id} has joined no mesh`);
    return this.#codec.encode(packet);
  }

  async #join(socket: net.Socket): Promise<void> {
    this.#socket = socket;
    const frames = FrameSocket.accept(socket);
    const agreed = await answerHub(frames, {
      node: this.id,
      tool: 'fuzz',
      adapter: undefined,
      secret: SECRET,
      subscribes: [],
      emits: [],
      resolveAdapter: (name) => loadAdapter(name),
      isBusy: () => false,
    });
    this.#handshakeBytes = socket.bytesWritten;
    const codec = agreed.opener.open(agreed.session);
    this.#codec = codec;
    frames.start(agreed.maxFrameBytes, (run) => this.#hear(codec, run));
  }

  /** Reads like an agent: heads first, and unreadable packets are dropped. */
  #hear(codec: Codec, run: FrameRun): void {
    try {
      for (const blob of run.copies()) {
        const packet = tryCall('what the hub sent', blob, () => {
          readHead(codec, blob);
          return codec.decode(blob);
        });
        if (packet !== undefined) this.heard.push(packet);
      }
    } catch (error) {
      this.fault ??= error;
    }
  }
}

interface Mesh extends Pick<MeshNetworkOptions, 'final' | 'maxFrameBytes'> {
  readonly ids: readonly string[];
  readonly adapter: string;
  readonly routing: Routing;
}

/** Runs `work` with a live hub and its members, over real sockets. */
export async function useMesh(
  { ids, adapter, routing, ...options }: Mesh,
  work: (links: readonly Link[], members: readonly MeshMember[]) => Promise<void>,
): Promise<void> {
  const members = await Promise.all(ids.map((id) => MeshMember.listen(id)));
  let network: MeshNetwork | undefined;
  try {
    network = await MeshNetwork.connect({
      runId: 'fuzz',
      adapter: await loadAdapter(adapter),
      secret: SECRET,
      nodes: members.map(({ id, port }) => ({ id, tool: 'fuzz', port, secret: SECRET })),
      router: createRouter(routing),
      observer: {},
      ...options,
    });
    await Promise.all(members.map((member) => member.joined));
    await work(network.links, members);
  } finally {
    network?.close();
    await Promise.all(members.map((member) => member.close()));
  }
}

/** A server on a free port of this machine; `close` ends it with all its connections. */
interface FuzzListener {
  readonly port: number;
  close(): Promise<void>;
}

export async function listen(onConnection: (socket: net.Socket) => void): Promise<FuzzListener> {
  const server = net.createServer({ noDelay: true }, (socket) => {
    // A peer that was cut off gets an error, which is what the test expects.
    socket.on('error', () => socket.destroy());
    onConnection(socket);
  });
  const close = trackConnections(server);
  return { port: await listenOnPlace(server, { port: 0 }), close };
}

/** Settles like `promise`, or with `late` after `ms`. */
export async function raceTimeout<T, Late>(ms: number, promise: Promise<T>, late: Late): Promise<T | Late> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<Late>((resolve) => {
    timer = setTimeout(() => resolve(late), ms);
  });
  try {
    return await Promise.race([promise, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
