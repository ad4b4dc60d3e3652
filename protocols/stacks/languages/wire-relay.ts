import { Forwarder } from '@gaia-mesh/core/transports/tcp/forwarder.ts';
import {
  type BodyCounter,
  createBodyCounter,
  detectBodyFormat,
  type MessageCount,
} from '../meter/body-counter.ts';
import { WireMeter } from '../meter/wire-meter.ts';

/**
 * Opens a forwarder in front of a server in another language, which counts the bytes of all connections and the
 * messages among them. Times are measured without it.
 *
 * @param carrier protocol that carries the messages; over HTTP/2 they are those of gRPC
 */
export async function openWireRelay(carrier: 'http1' | 'http2') {
  const meter = new WireMeter();
  const forwarder = await Forwarder.listen((client, server, connect) => {
    connect();
    meter.add(client);
    for (const [from, to, count] of [
      [client, server, meter.in],
      [server, client, meter.out],
    ] as const) {
      const splitter = carrier === 'http1' ? new Http1Splitter(count) : new GrpcSplitter(count);
      from.on('data', (chunk: Buffer) => splitter.push(chunk));
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroy());
    }
  });
  return { forwarder, meter };
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
