import net from 'node:net';
import { MeshError, toErrorMessage } from '../../contracts/errors.ts';
import { encodeFrame, type FrameRun } from '../../wire/frame.ts';
import { FrameIntake } from '../../wire/frame-intake.ts';
import type { FrameLink, SlabPart } from '../../wire/frame-link.ts';
import { largeFrames, type Waiter } from '../../wire/large-frames.ts';

/** Empty write behind other bytes; its callback reports that they have gone. */
const FENCE = new Uint8Array(0);

/**
 * A TCP connection that carries frames. A framing violation closes it; {@link closed} then settles with the
 * violation.
 */
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
   * @throws MeshError `io` when nothing listens there
   */
  static async dial(host: string, port: number): Promise<FrameSocket> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const intake = new FrameIntake((fault) => frames.destroy(fault));
    const { reader } = intake;
    const socket: net.Socket = net.connect({
      host,
      port,
      // The kernel reads straight into the reader's slab, without a buffer per read or a copy.
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
    if (!this.#isWritable) return true;
    this.#socket.write(frames);
    return this.#socket.writableLength === 0;
  }

  /** Writes with one system call; bytes that it does not accept hold their slab until they are written. */
  sendParts(parts: readonly SlabPart[]): boolean {
    if (!this.#isWritable) return true;
    const socket = this.#socket;
    if (parts.length > 1) socket.cork();
    for (const { slab, start, end } of parts) socket.write(slab.view(start, end));
    if (parts.length > 1) socket.uncork();
    if (socket.writableLength === 0) return true;
    // Only now is a notification needed: most writes are accepted at once.
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
    // All waiters share one promise: there may be hundreds, and each would otherwise need a listener.
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

  /**
   * Stops reading: the other end's bytes then wait in the system's buffers, and after that at the other end.
   */
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
    return this.#intake.pendingBytes;
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

  /** Closes the connection and drops the bytes that wait in the system's buffers, too. */
  reset(fault: MeshError): void {
    this.#intake.fail(fault);
    this.#socket.resetAndDestroy();
  }
}
