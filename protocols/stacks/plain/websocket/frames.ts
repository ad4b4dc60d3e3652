import { randomBytes } from 'node:crypto';
import { MeshError } from '../../../../core/contracts/errors.ts';
import { MAX_FRAME_BYTES } from '../../../../core/contracts/limits.ts';

/** Kinds of frames (RFC 6455, 11.8). */
export const OPCODE = {
  continuation: 0x0,
  text: 0x1,
  binary: 0x2,
  close: 0x8,
  ping: 0x9,
  pong: 0xa,
} as const;

const FINAL = 0x80;
const RESERVED = 0x70;
const MASKED = 0x80;
/** Of what controls a connection; such frames are whole. */
const MAX_CONTROL_BYTES = 125;
const LENGTH_16 = 126;
const LENGTH_64 = 127;

/** One whole frame. Clients mask what they send, with a key that nobody can foresee (10.3). */
export function webSocketFrame(opcode: number, payload: Uint8Array, isMasked: boolean): Buffer {
  const { length } = payload;
  const lengthBytes = length <= MAX_CONTROL_BYTES ? 0 : length <= 0xffff ? 2 : 8;
  const start = 2 + lengthBytes + (isMasked ? 4 : 0);
  const frame = Buffer.allocUnsafe(start + length);
  frame[0] = FINAL | opcode;
  const short = lengthBytes === 0 ? length : lengthBytes === 2 ? LENGTH_16 : LENGTH_64;
  frame[1] = short | (isMasked ? MASKED : 0);
  if (lengthBytes === 2) frame.writeUInt16BE(length, 2);
  if (lengthBytes === 8) frame.writeBigUInt64BE(BigInt(length), 2);
  frame.set(payload, start);
  if (isMasked) {
    const key = randomBytes(4);
    frame.set(key, start - 4);
    mask(frame.subarray(start), key);
  }
  return frame;
}

/** The same operation takes a mask off again. */
function mask(payload: Buffer, key: Buffer): void {
  for (let at = 0; at < payload.length; at++) payload[at] = (payload[at] ?? 0) ^ (key[at & 3] ?? 0);
}

interface Handlers {
  /** A whole message, of one frame or of several. */
  onMessage(message: Buffer): void;
  onControl(opcode: number, payload: Buffer): void;
}

interface Head {
  readonly opcode: number;
  readonly isFinal: boolean;
  readonly isMasked: boolean;
  readonly start: number;
  readonly length: number;
}

/** Frames out of bytes as they come. */
export class FrameParser {
  readonly #expectsMask: boolean;
  readonly #handlers: Handlers;
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** So many bytes have to be there before it is worth looking again: else a large frame would be joined for each chunk of it. */
  #needed = 2;
  #parts: Buffer[] = [];
  #partBytes = 0;

  /** @param expectsMask what comes from clients is masked, what comes from servers is not (5.1) */
  constructor(expectsMask: boolean, handlers: Handlers) {
    this.#expectsMask = expectsMask;
    this.#handlers = handlers;
  }

  /** @throws MeshError `frame` for what RFC 6455 does not allow, `limit` for a message that is longer than any packet */
  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes < this.#needed) return;
    let rest = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks);
    for (;;) {
      const head = headOf(rest);
      const end = head === undefined ? Number.NaN : head.start + head.length;
      if (head !== undefined) this.#check(head);
      if (head === undefined || end > rest.length) {
        this.#needed = Number.isNaN(end) ? rest.length + 1 : end;
        break;
      }
      // A copy of its own: a mask is taken off in place, and the chunk may be somebody else's.
      const payload = Buffer.from(rest.subarray(head.start, end));
      if (head.isMasked) mask(payload, rest.subarray(head.start - 4, head.start));
      rest = rest.subarray(end);
      this.#take(head, payload);
    }
    this.#chunks = rest.length === 0 ? [] : [rest];
    this.#bytes = rest.length;
  }

  #check({ opcode, isFinal, isMasked, length }: Head): void {
    const isControl = opcode >= OPCODE.close;
    if (isMasked !== this.#expectsMask) throw refused(`a frame that is ${isMasked ? '' : 'not '}masked`);
    if (isControl && (!isFinal || length > MAX_CONTROL_BYTES))
      throw refused('a control frame that is not whole');
    if (opcode > OPCODE.pong || (!isControl && opcode > OPCODE.binary)) throw refused(`opcode ${opcode}`);
    if (!isControl && (opcode === OPCODE.continuation) !== this.#parts.length > 0)
      throw refused('a message within another, or the end of none');
    if (!isControl && this.#partBytes + length > MAX_FRAME_BYTES) {
      throw new MeshError('limit', `WebSocket: expected messages of at most ${MAX_FRAME_BYTES} bytes`);
    }
  }

  #take({ opcode, isFinal }: Head, payload: Buffer): void {
    if (opcode >= OPCODE.close) {
      this.#handlers.onControl(opcode, payload);
      return;
    }
    this.#parts.push(payload);
    this.#partBytes += payload.length;
    if (!isFinal) return;
    const message = this.#parts.length === 1 ? payload : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#partBytes = 0;
    this.#handlers.onMessage(message);
  }
}

/** undefined where it is not all there yet. */
function headOf(bytes: Buffer): Head | undefined {
  const [first, second] = bytes;
  if (first === undefined || second === undefined) return undefined;
  if ((first & RESERVED) !== 0) throw refused('an extension that was not agreed on');
  const short = second & 0x7f;
  const lengthBytes = short === LENGTH_64 ? 8 : short === LENGTH_16 ? 2 : 0;
  const isMasked = (second & MASKED) !== 0;
  const start = 2 + lengthBytes + (isMasked ? 4 : 0);
  if (bytes.length < start) return undefined;
  const length =
    lengthBytes === 8 ? Number(bytes.readBigUInt64BE(2)) : lengthBytes === 2 ? bytes.readUInt16BE(2) : short;
  return { opcode: first & 0x0f, isFinal: (first & FINAL) !== 0, isMasked, start, length };
}

function refused(what: string): MeshError {
  return new MeshError('frame', `WebSocket: expected what RFC 6455 allows, came ${what}`);
}
