import { MeshError } from '../../contracts/errors.ts';
import { encodeFrame, type FrameRun } from '../../wire/frame.ts';
import { FrameIntake } from '../../wire/frame-intake.ts';
import type { FrameLink, SlabPart } from '../../wire/frame-link.ts';
import { largeFrames, type Waiter } from '../../wire/large-frames.ts';
import type { NatsMessage, NatsServer } from './nats-server.ts';

/**
 * Kinds of a link's messages. A message begins with one byte for its kind, counted from 1, and six bytes
 * (big-endian) for a position in a stream; `data` continues with the stream's bytes from there on. `taken`
 * tells how far its sender has read the other stream, and that the sender is alive; `end` gives the length of
 * the sender's own stream; `open` is an agent's answer to a hub that requests a connection.
 */
const KINDS = ['data', 'taken', 'end', 'open'] as const;
type MessageKind = (typeof KINDS)[number];

interface LinkMessage {
  readonly kind: MessageKind;
  readonly place: number;
  readonly bytes: Uint8Array;
}

const PLACE_BYTES = 6;
const HEADER_BYTES: number = 1 + PLACE_BYTES;

/** Allocates a message with room for `bytes` bytes of the stream. */
export function allocateMessage(kind: MessageKind, place: number, bytes = 0): Buffer {
  const message = Buffer.allocUnsafe(HEADER_BYTES + bytes);
  message.writeUInt8(1 + KINDS.indexOf(kind), 0);
  message.writeUIntBE(place, 1, PLACE_BYTES);
  return message;
}

/** Parses a message; returns undefined for other bytes. */
export function readMessage(bytes: Uint8Array): LinkMessage | undefined {
  const kind = KINDS[(bytes[0] ?? 0) - 1];
  if (kind === undefined || bytes.length < HEADER_BYTES) return undefined;
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return { kind, place: view.readUIntBE(1, PLACE_BYTES), bytes: bytes.subarray(HEADER_BYTES) };
}

/** Queue of waiting bytes in the pieces in which they came. */
class PieceQueue {
  readonly #pieces: Uint8Array[] = [];
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  /** Adds `piece`, which must not change while it waits; see {@link own}. */
  add(piece: Uint8Array): void {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
  }

  /** Copies the waiting pieces, so that the caller may overwrite the originals. */
  own(): void {
    this.#pieces.forEach((piece, i) => {
      this.#pieces[i] = Buffer.from(piece);
    });
  }

  /** Removes the first bytes and fills `target` with them. The queue must hold enough. */
  take(target: Uint8Array): void {
    let used = 0;
    let at = 0;
    for (const piece of this.#pieces) {
      const part = piece.subarray(0, target.length - at);
      target.set(part, at);
      at += part.length;
      if (part.length < piece.length) {
        this.#pieces[used] = piece.subarray(part.length);
        break;
      }
      used += 1;
    }
    this.#pieces.splice(0, used);
    this.#bytes -= target.length;
  }

  clear(): void {
    this.#pieces.length = 0;
    this.#bytes = 0;
  }
}

/**
 * Maximum bytes sent that the other end has not taken. A server disconnects a client that is 64 MiB behind
 * (`max_pending`); a hub with a hundred agents at full speed stays below that, and a single agent on one
 * network is never slowed down.
 */
export const WINDOW_BYTES = 512 * 1024;
/**
 * Step in bytes in which an end announces room: a message for each read would double the number of messages.
 */
const ANNOUNCED_BYTES = WINDOW_BYTES / 4;
/**
 * Maximum bytes of the stream in one message; less if the server accepts less. The client collects a message
 * that spans several socket reads piece by piece: with 128 KiB, frames of 64 KiB took a third longer.
 */
const MAX_PIECE_BYTES = WINDOW_BYTES / 16;

/**
 * Interval at which each end shows that it is alive. A process that ended is missed within this time, because
 * its server knows at once.
 */
const HEARTBEAT_MS = 500;
/**
 * Silent heartbeats after which the other end counts as gone: 15 s. An agent may be busy with one thing for
 * seconds.
 */
const MAX_SILENT_BEATS = 30;

/**
 * A connection that carries frames over a NATS server. The byte stream equals that of a TCP connection, cut
 * into messages that each hold their position in the stream: a message that the server loses is noticed and
 * ends the connection. An end sends at most {@link WINDOW_BYTES} beyond what the other end has taken, so it
 * waits for a slow reader as TCP does.
 */
export class NatsLink implements FrameLink, Waiter {
  readonly closed: Promise<MeshError | undefined>;
  readonly #server: NatsServer;
  readonly #inbound: string;
  readonly #outbound: string;
  readonly #intake: FrameIntake = new FrameIntake((fault) => this.destroy(fault));
  readonly #beat: NodeJS.Timeout;
  readonly #forget: () => void;
  readonly #close: () => void;
  readonly #maxPieceBytes: number;
  /** Positions in the stream to the other end. */
  #sent = 0;
  #takenThere = 0;
  readonly #queue = new PieceQueue();
  /** Bytes that waited when the connection ended. */
  #unsent = 0;
  #draining: PromiseWithResolvers<void> | undefined;
  #endsWhenSent = false;
  /** Positions in the stream from the other end. */
  #received = 0;
  #taken = 0;
  #announced = 0;
  readonly #waiting: Uint8Array[] = [];
  #isPaused = false;
  #isWaiting = false;
  #isTaking = false;
  #hasHungUp = false;
  #silentBeats = 0;
  #isEnded = false;

  /** Sends to the subject `voice`; the owner passes messages on the subject `ear` to {@link receive}. */
  constructor(server: NatsServer, ear: string, voice: string) {
    this.#server = server;
    this.#inbound = ear;
    this.#outbound = voice;
    this.#maxPieceBytes = Math.min(MAX_PIECE_BYTES, server.maxMessageBytes - HEADER_BYTES);
    const { promise, resolve } = Promise.withResolvers<MeshError | undefined>();
    this.closed = promise;
    this.#close = () => {
      this.#intake.close();
      resolve(this.#intake.fault);
    };
    this.#forget = server.onLost((fault) => {
      this.#intake.fail(fault);
      this.#finish();
    });
    this.#beat = setInterval(() => this.#onBeat(), HEARTBEAT_MS);
    this.#intake.reader.waiter = this;
  }

  /** Handles one message on this end's subject. */
  receive(message: NatsMessage): void {
    if (this.#isEnded) return;
    this.#silentBeats = 0;
    if (message.isNobodyThere) {
      this.#hangUp();
      return;
    }
    const said = readMessage(message.bytes);
    switch (said?.kind) {
      case 'data':
        this.#receiveData(said.place, said.bytes);
        break;
      case 'taken':
        this.#receiveTaken(said.place);
        break;
      case 'end':
        if (this.#isNext(said.place)) this.#hangUp();
        break;
      default:
        // A connection that is opened twice means that two agents answered.
        this.destroy(
          new MeshError(
            'frame',
            said === undefined
              ? 'the received bytes are not a link message'
              : 'two agents answered for the same name',
          ),
        );
    }
  }

  get pendingBytes(): number {
    return this.#intake.pendingBytes;
  }

  /** Bytes of frames taken from messages; NATS's own overhead is not counted. */
  get bytesRead(): number {
    return this.#taken;
  }

  get bytesWritten(): number {
    return this.#sent + this.#queue.bytes + this.#unsent;
  }

  get queuedBytes(): number {
    return this.#queue.bytes;
  }

  get isClosed(): boolean {
    return this.#isEnded;
  }

  nextBlob(timeoutMs: number): Promise<Buffer> {
    return this.#intake.nextBlob(timeoutMs);
  }

  expectPackets(maxFrameBytes: number, messagesLeft: 0 | 1): void {
    this.#intake.expectPackets(maxFrameBytes, messagesLeft, () => this.pause());
  }

  start(maxFrameBytes: number, onRun: (run: FrameRun) => void): void {
    this.#intake.start(maxFrameBytes, onRun, () => this.resume());
  }

  sendBlob(blob: Uint8Array): number {
    const frame = encodeFrame(blob);
    this.sendFrames(frame);
    return frame.length;
  }

  sendFrames(frames: Uint8Array): boolean {
    return this.#send([frames]);
  }

  /** Copies everything into messages or into the queue, so no slab is held. */
  sendParts(parts: readonly SlabPart[]): boolean {
    return this.#send(parts.map(({ slab, start, end }) => slab.view(start, end)));
  }

  async drained(): Promise<void> {
    if (this.#queue.bytes === 0) return;
    this.#draining ??= Promise.withResolvers();
    await this.#draining.promise;
  }

  /** Keeps received bytes here until the other end's window is full; further bytes wait there. */
  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    if (this.#isWaiting) largeFrames.look();
    else this.#takeWaiting();
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  wait(): void {
    this.#isWaiting = true;
  }

  goOn(): void {
    if (!this.#isWaiting) return;
    this.#isWaiting = false;
    this.#takeWaiting();
  }

  end(): void {
    this.#endsWhenSent = true;
    if (this.#queue.bytes === 0) this.destroy();
  }

  destroy(fault?: MeshError): void {
    if (this.#isEnded) return;
    if (fault !== undefined) this.#intake.fail(fault);
    this.#server.publish(this.#outbound, allocateMessage('end', this.#sent));
    this.#finish();
  }

  reset(fault: MeshError): void {
    this.destroy(fault);
  }

  #send(pieces: readonly Uint8Array[]): boolean {
    if (this.#isEnded || this.#endsWhenSent) return true;
    const isWaiting = this.#queue.bytes > 0;
    for (const piece of pieces) this.#queue.add(isWaiting ? Buffer.from(piece) : piece);
    if (isWaiting) return false;
    this.#pump();
    // The caller may overwrite bytes that were not copied into messages.
    this.#queue.own();
    return this.#queue.bytes === 0;
  }

  /** Sends as much as fits into the other end's window. */
  #pump(): void {
    while (this.#queue.bytes > 0) {
      const room = WINDOW_BYTES - (this.#sent - this.#takenThere);
      if (room <= 0) return;
      const bytes = Math.min(room, this.#maxPieceBytes, this.#queue.bytes);
      const message = allocateMessage('data', this.#sent, bytes);
      this.#queue.take(message.subarray(HEADER_BYTES));
      this.#sent += bytes;
      this.#server.publish(this.#outbound, message);
    }
    this.#draining?.resolve();
    this.#draining = undefined;
    if (this.#endsWhenSent) this.destroy();
  }

  #receiveData(place: number, bytes: Uint8Array): void {
    if (!this.#isNext(place)) return;
    this.#received += bytes.length;
    if (this.#received - this.#announced > WINDOW_BYTES) {
      this.destroy(new MeshError('frame', `more than ${WINDOW_BYTES} bytes came at once`));
      return;
    }
    // The bytes are part of the client's buffer, which may be much larger.
    if (this.#isPaused || this.#isWaiting || this.#isTaking) this.#waiting.push(Buffer.from(bytes));
    else this.#take(bytes);
  }

  #receiveTaken(place: number): void {
    if (place < this.#takenThere || place > this.#sent) {
      this.destroy(new MeshError('frame', `the other end took ${place} bytes; it was sent ${this.#sent}`));
      return;
    }
    this.#takenThere = place;
    if (this.#queue.bytes > 0) this.#pump();
  }

  #isNext(place: number): boolean {
    if (place === this.#received) return true;
    this.destroy(
      new MeshError(
        'io',
        `byte ${place} of the stream came after byte ${this.#received}: NATS lost a message, or another client wrote one`,
      ),
    );
    return false;
  }

  #take(bytes: Uint8Array): void {
    this.#taken += bytes.length;
    this.#isTaking = true;
    this.#intake.received(() => this.#intake.reader.push(bytes));
    this.#isTaking = false;
    if (this.#taken - this.#announced >= ANNOUNCED_BYTES) this.#announce();
  }

  #takeWaiting(): void {
    if (this.#isTaking) return;
    while (!this.#isPaused && !this.#isWaiting && !this.#isEnded) {
      const bytes = this.#waiting.shift();
      if (bytes === undefined) break;
      this.#take(bytes);
    }
    if (this.#hasHungUp && this.#waiting.length === 0) this.#hangUp();
  }

  /** Announces the bytes taken. With a `reply` subject the server reports if there is no receiver. */
  #announce(reply?: string): void {
    if (this.#isEnded) return;
    this.#announced = this.#taken;
    this.#server.publish(this.#outbound, allocateMessage('taken', this.#taken), reply);
  }

  #onBeat(): void {
    this.#silentBeats += 1;
    if (this.#silentBeats > MAX_SILENT_BEATS) {
      const seconds = (MAX_SILENT_BEATS * HEARTBEAT_MS) / 1000;
      this.destroy(new MeshError('io', `it was silent for ${seconds} s`));
    } else {
      this.#announce(this.#inbound);
    }
  }

  /** Handles the other end's closing: bytes that came before are still read. */
  #hangUp(): void {
    this.#hasHungUp = true;
    if (this.#waiting.length > 0) return;
    this.#intake.end();
    this.#finish();
  }

  #finish(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearInterval(this.#beat);
    this.#forget();
    this.#unsent = this.#queue.bytes;
    this.#queue.clear();
    this.#waiting.length = 0;
    this.#draining?.resolve();
    // The reader may be in the middle of the very bytes that ended the connection.
    queueMicrotask(this.#close);
  }
}
