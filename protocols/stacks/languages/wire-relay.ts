import { Forwarder } from '@gaia-mesh/core/transports/tcp/forwarder.ts';
import type { DirectionBytes, WireBytes } from '../contract/stack.ts';
import {
  type BodyCounter,
  createBodyCounter,
  detectBodyFormat,
  type MessageCount,
} from '../meter/body-counter.ts';

/** Bytes and messages of one direction; all that is not a message is head. */
class Direction {
  raw = 0;
  #body = 0;
  #messages = 0;

  add(bytes: number, messages: number): void {
    this.#body += bytes;
    this.#messages += messages;
  }

  get lines(): DirectionBytes {
    const head = this.raw - this.#body;
    return { raw: this.raw, tls: 0, head, body: this.#body, messages: this.#messages };
  }
}

/**
 * Opens a forwarder before a server of another language that counts for it: the bytes of all connections, and among them
 * the messages. Times are measured without it.
 */
export async function openWireRelay(carrier: 'http1' | 'http2') {
  const [sent, received] = [new Direction(), new Direction()];
  const counts = { connections: 0, closed: 0 };
  const forwarder = await Forwarder.listen((client, server, connect) => {
    connect();
    counts.connections += 1;
    client.once('close', () => {
      counts.closed += 1;
    });
    for (const [from, to, count] of [
      [client, server, received],
      [server, client, sent],
    ] as const) {
      const split = createMessageSplitter(carrier, count);
      from.on('data', (chunk: Buffer) => {
        count.raw += chunk.length;
        split(chunk);
      });
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroy());
    }
  });
  /** Counts the bytes of the server's side so far. */
  const count = (): WireBytes => ({ ...counts, sent: sent.lines, received: received.lines });
  return { forwarder, count };
}

/** Finds the messages among the bytes of one direction of a connection, given in pieces as they pass. */
type MessageSplitter = (chunk: Buffer) => void;

/** @param carrier protocol that carries the messages; over HTTP/2 they are those of gRPC */
function createMessageSplitter(carrier: 'http1' | 'http2', count: MessageCount): MessageSplitter {
  const splitter = carrier === 'http1' ? new Http1Splitter(count) : new GrpcSplitter(count);
  return (chunk) => splitter.push(chunk);
}

const NEWLINE = 0x0a;
/** Maximum bytes of a line of a head; a longer one is none. */
const MAX_LINE_BYTES = 64 * 1024;

/** Splits requests or responses of HTTP/1.1, whose bodies have a length or come in chunks (RFC 9112). */
class Http1Splitter {
  readonly #count: MessageCount;
  #expected: 'head' | 'size' | 'gap' | 'trailer' = 'head';
  #line = '';
  #fields: string[] = [];
  #body: BodyCounter | undefined;
  /** Bytes of the body, or of its chunk, that are still to come. */
  #left = 0;

  constructor(count: MessageCount) {
    this.#count = count;
  }

  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) {
      if (this.#left > 0) {
        const taken = Math.min(this.#left, chunk.length - at);
        this.#body?.(chunk.subarray(at, at + taken));
        this.#left -= taken;
        at += taken;
        continue;
      }
      const newline = chunk.indexOf(NEWLINE, at);
      const end = newline === -1 ? chunk.length : newline + 1;
      this.#line += chunk.toString('latin1', at, end);
      at = end;
      if (this.#line.length > MAX_LINE_BYTES) throw new Error('the relay expected a head of HTTP/1.1');
      if (newline === -1) return;
      this.#read(this.#line.trimEnd());
      this.#line = '';
    }
  }

  #read(line: string): void {
    switch (this.#expected) {
      case 'head':
        if (line !== '') this.#fields.push(line);
        else this.#beginBody();
        break;
      case 'size':
        this.#left = Number.parseInt(line, 16);
        this.#expected = this.#left > 0 ? 'gap' : 'trailer';
        break;
      case 'gap':
        this.#expected = 'size';
        break;
      case 'trailer':
        if (line === '') this.#expected = 'head';
    }
  }

  #beginBody(): void {
    const [, ...fields] = this.#fields;
    this.#fields = [];
    const find = (name: string) => fields.find((field) => field.toLowerCase().startsWith(`${name}:`));
    const read = (name: string) =>
      find(name)
        ?.slice(name.length + 1)
        .trim();
    this.#body = createBodyCounter(detectBodyFormat(read('content-type')), this.#count);
    if (read('transfer-encoding') !== undefined) this.#expected = 'size';
    else this.#left = Number(read('content-length') ?? 0);
  }
}

const PREFACE_BYTES = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'.length;
const PREFACE_BEGIN = 'P'.charCodeAt(0);
const FRAME_HEAD_BYTES = 9;
const DATA = 0;
const RST_STREAM = 3;
const END_STREAM = 0x01;
const PADDED = 0x08;

/** Splits the messages of gRPC on HTTP/2, which are in DATA frames (RFC 9113), one sequence for each stream. */
class GrpcSplitter {
  readonly #count: MessageCount;
  readonly #streams = new Map<number, BodyCounter>();
  #held: Buffer = Buffer.alloc(0);
  #isBegun = false;

  constructor(count: MessageCount) {
    this.#count = count;
  }

  push(chunk: Buffer): void {
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    // A client begins with a preface, which no frame looks like: its length would be 5 MiB.
    if (!this.#isBegun && this.#held[0] === PREFACE_BEGIN) {
      if (this.#held.length < PREFACE_BYTES) return;
      this.#held = this.#held.subarray(PREFACE_BYTES);
    }
    this.#isBegun = true;
    for (;;) {
      if (this.#held.length < FRAME_HEAD_BYTES) return;
      const length = this.#held.readUIntBE(0, 3);
      if (this.#held.length < FRAME_HEAD_BYTES + length) return;
      const [type, flags] = [this.#held.readUInt8(3), this.#held.readUInt8(4)];
      const stream = this.#held.readUInt32BE(5) & 0x7fffffff;
      const content = this.#held.subarray(FRAME_HEAD_BYTES, FRAME_HEAD_BYTES + length);
      this.#held = this.#held.subarray(FRAME_HEAD_BYTES + length);
      if (type === DATA) this.#readData(stream, flags, content);
      if (type === RST_STREAM || (type === DATA && (flags & END_STREAM) !== 0)) this.#streams.delete(stream);
    }
  }

  #readData(stream: number, flags: number, content: Buffer): void {
    const padding = (flags & PADDED) === 0 ? undefined : (content[0] ?? 0);
    const counter = this.#streams.get(stream) ?? createBodyCounter('grpc', this.#count);
    this.#streams.set(stream, counter);
    counter(padding === undefined ? content : content.subarray(1, content.length - padding));
  }
}
