import net from 'node:net';
import type { Codec } from '@gaia-mesh/core/contracts/adapter.ts';
import { type Packet, parsePacket } from '@gaia-mesh/core/contracts/packet.ts';
import { FrameSocket } from '@gaia-mesh/core/transports/tcp/frame-socket.ts';
import { answerHub } from '@gaia-mesh/core/wire/handshake.ts';
import { loadAdapter } from '@gaia-mesh/protocols/registry.ts';
import { listenOnPlace } from '@gaia-mesh/stacks/listen.ts';
import { onTestFinished } from 'vitest';

/** The secret of the run that a member belongs to; the hub gets it in its environment. */
export const MEMBER_SECRET = 'known to the members of this run';

/** A member's reaction to a packet; it has everything that a real member has, including its keys. */
export type Misdeed = (packet: Packet, member: MemberAgent) => void;

/**
 * An agent that belongs to the run: it has proved that it knows the secret and has exchanged keys through the real
 * adapter, and now writes arbitrary bytes. It keeps no ledger.
 */
export class MemberAgent {
  readonly port: number;
  #socket: FrameSocket | undefined;
  #codec: Codec | undefined;
  #count = 0;
  readonly #id: string;

  private constructor(id: string, port: number) {
    this.#id = id;
    this.port = port;
  }

  /** Listens on a free port until the test is over. */
  static async listen(id: string, tool: string, onPacket: Misdeed): Promise<MemberAgent> {
    const server = net.createServer();
    const member = new MemberAgent(id, await listenOnPlace(server, { port: 0 }));
    server.on('connection', (socket) => void member.#serve(FrameSocket.accept(socket), tool, onPacket));
    onTestFinished(() => {
      member.#socket?.destroy();
      server.close();
    });
    return member;
  }

  packet(cause: Packet, rest: Partial<Packet> & Pick<Packet, 'type' | 'payload'>): Packet {
    this.#count += 1;
    const id = `${this.#id}-${this.#count}`;
    return parsePacket({
      from: this.#id,
      id,
      task_id: cause.task_id,
      token_used: 0,
      ts: Date.now(),
      ...rest,
    });
  }

  encode(packet: Packet): Uint8Array {
    if (this.#codec === undefined) throw new Error('no hub has dialled yet');
    return this.#codec.encode(packet);
  }

  send(blob: Uint8Array): void {
    this.#socket?.sendBlob(blob);
  }

  async #serve(socket: FrameSocket, tool: string, onPacket: Misdeed): Promise<void> {
    const agreed = await answerHub(socket, {
      node: this.#id,
      tool,
      adapter: undefined,
      secret: MEMBER_SECRET,
      subscribes: ['doc_init'],
      emits: ['data_event'],
      resolveAdapter: (name) => loadAdapter(name),
      isBusy: () => false,
    });
    const codec = agreed.opener.open(agreed.session);
    this.#socket = socket;
    this.#codec = codec;
    socket.start(agreed.maxFrameBytes, (run) => {
      for (const blob of run.copies()) onPacket(codec.decode(blob), this);
    });
  }
}
