import net from 'node:net';
import { MeshError, messageOf } from './errors.ts';
import { blobsOf, FrameReader, type FrameRun, frameOf, type RunUse } from './frame.ts';
import { MAX_HANDSHAKE_FRAME_BYTES } from './limits.ts';
import type { Slab } from './slab.ts';

/** Blobs that may wait unread while the handshake takes turns. More is flooding. */
const MAX_WAITING_BLOBS = 2;
/** Written behind other bytes, it says when they have gone. */
const FENCE = new Uint8Array(0);

/** Complete frames in a slab. */
export interface SlabPart {
  readonly slab: Slab;
  readonly start: number;
  readonly end: number;
}

/**
 * A TCP connection that carries frames. It begins in turns ({@link nextBlob}, for the handshake) and goes over to a
 * stream of runs with {@link start}. A framing violation closes it; {@link closed} then says what was wrong.
 */
export class FrameSocket {
  readonly #socket: net.Socket;
  readonly #reader: FrameReader;
  #onRun: ((run: FrameRun) => RunUse) | undefined;
  readonly #waiting: Buffer[] = [];
  #wake: (() => void) | undefined;
  #fault: MeshError | undefined;
  #isClosed = false;
  #draining: Promise<void> | undefined;

  /** Settles when the connection has ended: with the reason, or with nothing where the other end just hung up. */
  readonly closed: Promise<MeshError | undefined>;

  private constructor(socket: net.Socket, reader: FrameReader) {
    this.#socket = socket;
    this.#reader = reader;
    socket.setNoDelay(true);
    this.closed = new Promise((resolve) => {
      socket.on('error', (error) => this.#fail(new MeshError('io', messageOf(error), { cause: error })));
      socket.on('end', () => {
        if (reader.pendingBytes > 0) {
          this.#fail(
            new MeshError('frame', `torn frame: the connection ended ${reader.pendingBytes} bytes into it`),
          );
        }
        socket.end();
      });
      socket.on('close', () => {
        this.#isClosed = true;
        reader.end();
        this.#wake?.();
        resolve(this.#fault);
      });
    });
  }

  /**
   * Connects to a listening agent.
   *
   * @throws MeshError `io` when nobody listens there
   */
  static async dial(host: string, port: number): Promise<FrameSocket> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const reader = new FrameReader(MAX_HANDSHAKE_FRAME_BYTES, (run) => frames.#take(run));
    const socket: net.Socket = net.connect({
      host,
      port,
      // The kernel reads straight into the reader's slab: no buffer per read, no copy.
      onread: {
        buffer: () => reader.space(),
        callback: (count) => {
          frames.#received(() => reader.received(count));
          return !socket.isPaused();
        },
      },
    });
    const frames = new FrameSocket(socket, reader);
    socket.once('connect', resolve);
    void frames.closed.then((fault) => reject(fault ?? new MeshError('io', `${host}:${port} hung up`)));
    await promise;
    return frames;
  }

  /** Wraps a connection that a server accepted. */
  static accept(socket: net.Socket): FrameSocket {
    const reader = new FrameReader(MAX_HANDSHAKE_FRAME_BYTES, (run) => frames.#take(run));
    const frames = new FrameSocket(socket, reader);
    socket.on('data', (chunk) => frames.#received(() => reader.push(chunk)));
    return frames;
  }

  /** Bytes that the operating system counted on this connection: the books must agree with them. */
  get bytesRead(): number {
    return this.#socket.bytesRead;
  }

  get bytesWritten(): number {
    return this.#socket.bytesWritten;
  }

  /** Bytes that wait in this process because the other end does not take them. */
  get queuedBytes(): number {
    return this.#socket.writableLength;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /**
   * The next blob, without its prefix, while the connection is in turns.
   *
   * @throws MeshError `handshake` when none comes in time or the connection ends
   */
  async nextBlob(timeoutMs: number): Promise<Buffer> {
    const deadlineMs = performance.now() + timeoutMs;
    for (;;) {
      const blob = this.#waiting.shift();
      if (blob !== undefined) return blob;
      if (this.#fault !== undefined) throw this.#fault;
      if (this.#isClosed) throw new MeshError('handshake', 'the other end hung up during the handshake');
      const leftMs = deadlineMs - performance.now();
      if (leftMs <= 0) {
        throw new MeshError('handshake', `no handshake message within ${Math.round(timeoutMs)} ms`);
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      const timer = setTimeout(resolve, leftMs);
      await promise;
      clearTimeout(timer);
    }
  }

  /**
   * Ends the turns: from now on every run goes to `onRun`, in order, synchronously. A blob that nobody asked for in the
   * turns is a violation: nobody would hear or count it.
   */
  start(maxFrameBytes: number, onRun: (run: FrameRun) => RunUse): void {
    if (this.#waiting.length > 0) {
      this.destroy(new MeshError('frame', 'a frame came before the handshake had ended'));
    }
    this.#reader.maxFrameBytes = maxFrameBytes;
    this.#onRun = onRun;
  }

  /** Writes `blob` as a frame and returns the bytes that this put on the wire. */
  sendBlob(blob: Uint8Array): number {
    const frame = frameOf(blob);
    this.sendFrames(frame);
    return frame.length;
  }

  /** Writes complete frames as they are. True when the system has taken every byte, so that they may be reused. */
  sendFrames(frames: Uint8Array): boolean {
    if (!this.#isWritable) return true;
    this.#socket.write(frames);
    return this.#socket.writableLength === 0;
  }

  /**
   * Writes frames that lie in slabs, with one call of the system; what it does not take holds its slab until it has. True when it
   * took all.
   */
  sendParts(parts: readonly SlabPart[]): boolean {
    if (!this.#isWritable) return true;
    const socket = this.#socket;
    if (parts.length > 1) socket.cork();
    for (const { slab, start, end } of parts) socket.write(slab.bytes.subarray(start, end));
    if (parts.length > 1) socket.uncork();
    if (socket.writableLength === 0) return true;
    // Only now is it known that somebody must say when the bytes have gone: mostly nobody must.
    for (const { slab } of parts) {
      slab.hold();
      socket.write(FENCE, slab.release);
    }
    return false;
  }

  get #isWritable(): boolean {
    return !this.#isClosed && !this.#socket.destroyed && !this.#socket.writableEnded;
  }

  /** Settles when nothing waits in this process any more, or the connection has ended. */
  async drained(): Promise<void> {
    if (!this.#socket.writableNeedDrain || this.#isClosed) return;
    // One promise for all who wait: hundreds may, and a listener each would be as many.
    this.#draining ??= new Promise((resolve) => {
      const drained = () => {
        this.#socket.off('drain', drained);
        this.#socket.off('close', drained);
        this.#draining = undefined;
        resolve();
      };
      this.#socket.on('drain', drained);
      this.#socket.on('close', drained);
    });
    await this.#draining;
  }

  /** Stops reading: the other end's bytes wait in the system's buffers, and then at the other end. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  /** Sends what is queued, then closes. */
  end(): void {
    this.#socket.end();
  }

  /** Closes at once. `fault`, if any, is what {@link closed} settles with. */
  destroy(fault?: MeshError): void {
    if (fault !== undefined) this.#fault ??= fault;
    this.#socket.destroy();
  }

  /** The same, and what the other end has not taken is dropped, in the system's buffers, too: it would never take it. */
  reset(fault: MeshError): void {
    this.#fault ??= fault;
    this.#socket.resetAndDestroy();
  }

  #fail(fault: MeshError): void {
    this.#fault ??= fault;
    this.#wake?.();
  }

  #received(read: () => void): void {
    try {
      read();
    } catch (error) {
      this.destroy(
        error instanceof MeshError ? error : new MeshError('frame', messageOf(error), { cause: error }),
      );
    }
  }

  #take(run: FrameRun): RunUse {
    if (this.#onRun !== undefined) return this.#onRun(run);
    for (const blob of blobsOf(run)) this.#waiting.push(Buffer.from(blob));
    if (this.#waiting.length > MAX_WAITING_BLOBS) {
      throw new MeshError('frame', `more than ${MAX_WAITING_BLOBS} frames at once during the handshake`);
    }
    this.#wake?.();
    return 'done';
  }
}
