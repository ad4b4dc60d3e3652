import { randomBytes } from 'node:crypto';
import net from 'node:net';
import { measureLine } from '@gaia-mesh/core/contracts/ledger.ts';
import { type JsonObject, MESH_TYPES, type Packet, parsePacket } from '@gaia-mesh/core/contracts/packet.ts';
import { AgentLedger } from '@gaia-mesh/core/wire/ledger-report.ts';
import { json } from '@gaia-mesh/protocols/json.ts';
import { listenOnPlace } from '@gaia-mesh/stacks/listen.ts';
import { onTestFinished } from 'vitest';

/** The announcement of a hand-written agent, and its behaviour. */
interface RawAgentOptions {
  readonly id: string;
  readonly tool: string;
  readonly subscribes?: readonly string[];
  readonly emits?: readonly string[];
  /** Receives every packet except the mesh's own. */
  readonly onPacket?: (packet: Packet, agent: RawAgent) => unknown;
  /** Accepts connections but never sends anything. */
  readonly isMute?: boolean;
  /** Changes to its announcement in the handshake. */
  readonly welcome?: Readonly<Record<string, unknown>>;
}

const codec = json.open({
  runId: 'run',
  self: 'raw',
  peer: 'hub',
  linkKey: new Uint8Array(32),
  runKey: new Uint8Array(32),
  offers: new Map(),
});

/**
 * An agent on a bare socket, written only from the description of the wire: it performs the handshake without a secret
 * and speaks JSON. Tests use it to stay silent, to answer at once, or to misbehave.
 */
export class RawAgent {
  readonly port: number;
  readonly received: Packet[] = [];
  readonly #options: RawAgentOptions;
  #socket: net.Socket | undefined;
  #ledger = new AgentLedger();
  #count = 0;

  private constructor(options: RawAgentOptions, server: net.Server, port: number) {
    this.#options = options;
    this.port = port;
    server.on('connection', (socket) => this.#serve(socket));
  }

  /** Listens on a free port until the test is over. */
  static async listen(options: RawAgentOptions): Promise<RawAgent> {
    const server = net.createServer();
    const agent = new RawAgent(options, server, await listenOnPlace(server, { port: 0 }));
    onTestFinished(() => {
      agent.hangUp();
      server.close();
    });
    return agent;
  }

  /** Its entry in a team file. */
  get entry(): { id: string; tool: string; port: number } {
    return { id: this.#options.id, tool: this.#options.tool, port: this.port };
  }

  /** Sends a packet of its own in answer to `cause`. */
  send(cause: Packet, packet: Partial<Packet> & { type: string; payload: JsonObject }): void {
    const whole = this.packet(cause, packet);
    const blob = codec.encode(whole);
    this.#ledger.sent(whole.type, measureLine(codec, whole, blob.length), { toolUs: 0, encodeUs: 0 });
    this.sendBlob(blob);
  }

  answer(cause: Packet, text: string): void {
    this.send(cause, { type: 'data_event', tag: 'final_answer', payload: { answer: text } });
  }

  packet(cause: Packet, packet: Partial<Packet> & { type: string; payload: JsonObject }): Packet {
    this.#count += 1;
    return {
      from: this.#options.id,
      id: `${this.#options.id}-${this.#count}`,
      task_id: cause.task_id,
      token_used: 0,
      ts: Date.now(),
      ...packet,
    };
  }

  sendBlob(blob: Uint8Array): void {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(blob.length);
    this.sendBytes(Buffer.concat([length, blob]));
  }

  /** Writes bytes unchanged. */
  sendBytes(bytes: Uint8Array): void {
    this.#socket?.write(bytes);
  }

  /** Ends the connection after everything written; bytes of an unfinished frame are cut off. */
  hangUp(): void {
    this.#socket?.end();
  }

  #serve(socket: net.Socket): void {
    this.#socket = socket;
    this.#ledger = new AgentLedger();
    let buffer: Buffer = Buffer.alloc(0);
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      buffer = Buffer.concat([buffer, chunk]);
      while (buffer.length >= 4 && buffer.length >= 4 + buffer.readUInt32BE()) {
        const end = 4 + buffer.readUInt32BE();
        const blob = buffer.subarray(4, end);
        buffer = buffer.subarray(end);
        if (this.#options.isMute !== true) this.#take(JSON.parse(blob.toString('utf8')), end);
      }
    });
  }

  #take(message: Record<string, unknown>, frameBytes: number): void {
    const {
      id,
      tool,
      subscribes = ['doc_init'],
      emits = ['data_event', MESH_TYPES.ledger],
      welcome = {},
    } = this.#options;
    const say = (value: object) => this.sendBlob(Buffer.from(JSON.stringify(value)));
    switch (message.kind) {
      case 'hello': {
        const { wire, adapter } = message;
        const nonce = randomBytes(32).toString('hex');
        const said = { wire, node: id, tool, adapter, auth: 'open', nonce, proof: '', subscribes, emits };
        say({ kind: 'welcome', ...said, ...welcome });
        return;
      }
      case 'begin':
        say({ kind: 'ready' });
        return;
      case 'refuse':
        return;
    }
    const packet = parsePacket(message);
    if (packet.type === MESH_TYPES.settle) {
      this.sendBlob(
        codec.encode(this.packet(packet, { type: MESH_TYPES.ledger, payload: this.#ledger.toPayload() })),
      );
      return;
    }
    this.#ledger.received(frameBytes, 0);
    this.received.push(packet);
    this.#options.onPacket?.(packet, this);
  }
}
