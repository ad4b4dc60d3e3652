import { MeshError, toErrorMessage } from '../contracts/errors.ts';
import { HANDSHAKE_LIMITS } from '../contracts/limits.ts';
import { waitPatiently } from '../system/process/patience.ts';
import { encodeFrames, FrameReader, FrameRun } from './frame.ts';
import { slabs } from './slab.ts';

/** Maximum blobs that may wait unread during the handshake, which alternates. More is flooding. */
const MAX_WAITING_BLOBS = 2;

/**
 * The receiving half of a connection: it turns bytes into frames, first one message at a time, then as a
 * stream of runs.
 */
export class FrameIntake {
  readonly reader: FrameReader = new FrameReader(HANDSHAKE_LIMITS.frameBytes, (run) => this.#take(run));
  readonly #onViolation: (fault: MeshError) => void;
  readonly #waiting: Buffer[] = [];
  #onRun: ((run: FrameRun) => void) | undefined;
  #wake: (() => void) | undefined;
  #fault: MeshError | undefined;
  #isClosed = false;
  /** Set from the message before the last one of the handshake on: frames behind the last one are packets. */
  #onEarly: (() => void) | undefined;
  /** Packets that came before {@link start}; reading has paused, so they are no more than one read brought. */
  #early: Buffer | undefined;
  #isLastTaken = false;

  /** `onViolation` is called for bytes that are no frames, and closes the connection. */
  constructor(onViolation: (fault: MeshError) => void) {
    this.#onViolation = onViolation;
  }

  /** First reason that was given for the end of the connection. */
  get fault(): MeshError | undefined {
    return this.#fault;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Records the reason for the connection's end. */
  fail(fault: MeshError): void {
    this.#fault ??= fault;
    this.#wake?.();
  }

  /** Handles the other end's last byte; a frame that is incomplete by then is torn. */
  end(): void {
    const { pendingBytes } = this.reader;
    if (pendingBytes === 0) return;
    this.fail(new MeshError('frame', `torn frame: the connection ended ${pendingBytes} bytes into it`));
  }

  /** Handles the end of the connection: nothing more arrives. */
  close(): void {
    this.#isClosed = true;
    this.reader.end();
    this.#wake?.();
  }

  /** Runs `read`, which passes bytes to the {@link reader}. */
  received(read: () => void): void {
    try {
      read();
    } catch (error) {
      this.#onViolation(
        error instanceof MeshError ? error : new MeshError('frame', toErrorMessage(error), { cause: error }),
      );
    }
  }

  /** Returns the next blob of the handshake; see `FrameLink.nextBlob`. */
  async nextBlob(timeoutMs: number): Promise<Buffer> {
    let isOver = false;
    const callOff = waitPatiently(timeoutMs, () => {
      isOver = true;
      this.#wake?.();
    });
    try {
      for (;;) {
        const blob = this.#waiting.shift();
        if (blob !== undefined) return blob;
        if (this.#fault !== undefined) throw this.#fault;
        if (this.#isClosed) throw new MeshError('handshake', 'the other end hung up during the handshake');
        if (isOver) throw new MeshError('handshake', `no handshake message within ${timeoutMs} ms`);
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#wake = resolve;
        await promise;
      }
    } finally {
      callOff();
    }
  }

  /** Bytes received of frames that were not taken: an incomplete one, and packets that came early. */
  get pendingBytes(): number {
    return this.reader.pendingBytes + (this.#early?.length ?? 0);
  }

  /** See `FrameLink.expectPackets`; `pause` stops reading. */
  expectPackets(maxFrameBytes: number, messagesLeft: 0 | 1, pause: () => void): void {
    this.reader.maxFrameBytes = maxFrameBytes;
    this.#isLastTaken = messagesLeft === 0;
    this.#onEarly = pause;
  }

  /**
   * Switches to a stream of runs; see `FrameLink.start`. Packets that came early are taken in a moment, when
   * every link is ready, and `resume` goes on reading.
   */
  start(maxFrameBytes: number, onRun: (run: FrameRun) => void, resume: () => void): void {
    if (this.#early !== undefined) {
      setImmediate(() => {
        this.#takeEarly();
        resume();
      });
    }
    if (this.#waiting.length > 0) {
      this.#onViolation(new MeshError('frame', 'a frame came before the handshake had ended'));
    }
    this.reader.maxFrameBytes = maxFrameBytes;
    this.#onRun = onRun;
  }

  #take(run: FrameRun): void {
    if (this.#onRun !== undefined) {
      this.#takeEarly();
      this.#onRun(run);
      return;
    }
    const blobs = run.copies();
    if (this.#onEarly === undefined) this.#waiting.push(...blobs.slice(0, MAX_WAITING_BLOBS + 1));
    else {
      if (!this.#isLastTaken) this.#waiting.push(...blobs.splice(0, 1));
      this.#isLastTaken = true;
      if (blobs.length > 0) {
        this.#early = Buffer.concat([this.#early ?? Buffer.alloc(0), encodeFrames(blobs)]);
        this.#onEarly();
      }
    }
    if (this.#waiting.length > MAX_WAITING_BLOBS) {
      throw new MeshError('frame', `more than ${MAX_WAITING_BLOBS} frames at once during the handshake`);
    }
    this.#wake?.();
  }

  #takeEarly(): void {
    const frames = this.#early;
    if (frames === undefined || this.#isClosed) return;
    this.#early = undefined;
    const slab = slabs.take(frames.length);
    slab.bytes.set(frames);
    this.received(() => this.#onRun?.(new FrameRun(slab, 0, frames.length, frames.length)));
    slab.release();
  }
}
