import net from 'node:net';
import { MeshError, toErrorMessage } from '../../contracts/errors.ts';
import { encodeFrame, type FrameRun } from '../../wire/frame.ts';
import { FrameIntake } from '../../wire/frame-intake.ts';
import type { FrameLink, SlabPart } from '../../wire/frame-link.ts';
import { largeFrames, type Waiter } from '../../wire/large-frames.ts';

/** Written behind other bytes, it says when they have gone. */
const FENCE = new Uint8Array(0);

/** A TCP connection that carries frames. A framing violation closes it; {@link closed} then says what was wrong. */
export class FrameSocket implements FrameLink, Waiter {
  readonly #socket: net.Socket;
  readonly #intake: FrameIntake;
  #isPaused = false;
  #isWaiting = false;
  #draining: Promise<void> | undefined;

  readonly closed: Promise<MeshError | undefined>;

  private constructor(socket: net.Socket, intake: FrameIntake) {
    this.#socket = socket;
    this.#intake = intake;
    socket.setNoDelay(true);
    this.closed = new Promise((resolve) => {
      socket.on('error', (error) =>
        intake.fail(new MeshError('io', toErrorMessage(error), { cause: error })),
      );
      socket.on('end', () => {
        intake.end();
        socket.end();
      });
      socket.on('close', () => {
        intake.close();
        resolve(intake.fault);
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
    const intake = new FrameIntake((fault) => frames.destroy(fault));
    const { reader } = intake;
    const socket: net.Socket = net.connect({
      host,
      port,
      // The kernel reads straight into the reader's slab: no buffer per read, no copy.
      onread: {
        buffer: () => reader.space(),
        callback: (count) => {
          intake.received(() => reader.received(count));
          return !socket.isPaused();
        },
      },
    });
    const frames = new FrameSocket(socket, intake);
    reader.waiter = frames;
    socket.once('connect', resolve);
    void frames.closed.then((fault) => reject(fault ?? new MeshError('io', `${host}:${port} hung up`)));
    await promise;
    return frames;
  }

  /** Wraps a connection that a server accepted. */
  static accept(socket: net.Socket): FrameSocket {
    const intake = new FrameIntake((fault) => frames.destroy(fault));
    const frames = new FrameSocket(socket, intake);
    socket.on('data', (chunk) => intake.received(() => intake.reader.push(chunk)));
    return frames;
  }

  /** Bytes that the operating system counted on this connection. */
  get bytesRead(): number {
    return this.#socket.bytesRead;
  }

  get bytesWritten(): number {
    return this.#socket.bytesWritten;
  }

  get queuedBytes(): number {
    return this.#socket.writableLength;
  }

  get isClosed(): boolean {
    return this.#intake.isClosed;
  }

  nextBlob(timeoutMs: number): Promise<Buffer> {
    return this.#intake.nextBlob(timeoutMs);
  }

  start(maxFrameBytes: number, onRun: (run: FrameRun) => void): void {
    this.#intake.start(maxFrameBytes, onRun);
  }

  sendBlob(blob: Uint8Array): number {
    const frame = encodeFrame(blob);
    this.sendFrames(frame);
    return frame.length;
  }

  sendFrames(frames: Uint8Array): boolean {
    if (!this.#isWritable) return true;
    this.#socket.write(frames);
    return this.#socket.writableLength === 0;
  }

  /** With one call of the system; what it does not take holds its slab until it has. */
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
    return !this.isClosed && !this.#socket.destroyed && !this.#socket.writableEnded;
  }

  async drained(): Promise<void> {
    if (!this.#socket.writableNeedDrain || this.isClosed) return;
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

  /** The other end's bytes wait in the system's buffers, and then at the other end. */
  pause(): void {
    this.#isPaused = true;
    this.#socket.pause();
  }

  resume(): void {
    this.#isPaused = false;
    if (this.#isWaiting) largeFrames.look();
    else this.#socket.resume();
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  get pendingBytes(): number {
    return this.#intake.reader.pendingBytes;
  }

  wait(): void {
    this.#isWaiting = true;
    this.#socket.pause();
  }

  goOn(): void {
    if (!this.#isWaiting) return;
    this.#isWaiting = false;
    if (!this.#isPaused) this.#socket.resume();
  }

  end(): void {
    this.#socket.end();
  }

  destroy(fault?: MeshError): void {
    if (fault !== undefined) this.#intake.fail(fault);
    this.#socket.destroy();
  }

  /** What the other end has not taken is dropped in the system's buffers, too. */
  reset(fault: MeshError): void {
    this.#intake.fail(fault);
    this.#socket.resetAndDestroy();
  }
}
