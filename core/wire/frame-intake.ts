import { MeshError, toErrorMessage } from '../contracts/errors.ts';
import { MAX_HANDSHAKE_FRAME_BYTES } from '../contracts/limits.ts';
import { waitPatiently } from '../system/process/patience.ts';
import { FrameReader, type FrameRun } from './frame.ts';

/** Maximum blobs that may wait unread during the handshake, which alternates. More is flooding. */
const MAX_WAITING_BLOBS = 2;

/**
 * The receiving half of a connection: it turns bytes into frames, first one message at a time, then as a
 * stream of runs.
 */
export class FrameIntake {
  readonly reader: FrameReader = new FrameReader(MAX_HANDSHAKE_FRAME_BYTES, (run) => this.#take(run));
  readonly #onViolation: (fault: MeshError) => void;
  readonly #waiting: Buffer[] = [];
  #onRun: ((run: FrameRun) => void) | undefined;
  #wake: (() => void) | undefined;
  #fault: MeshError | undefined;
  #isClosed = false;

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

  /** Switches to a stream of runs; see `FrameLink.start`. */
  start(maxFrameBytes: number, onRun: (run: FrameRun) => void): void {
    if (this.#waiting.length > 0) {
      this.#onViolation(new MeshError('frame', 'a frame came before the handshake had ended'));
    }
    this.reader.maxFrameBytes = maxFrameBytes;
    this.#onRun = onRun;
  }

  #take(run: FrameRun): void {
    if (this.#onRun !== undefined) {
      this.#onRun(run);
      return;
    }
    for (const blob of run.copies()) this.#waiting.push(blob);
    if (this.#waiting.length > MAX_WAITING_BLOBS) {
      throw new MeshError('frame', `more than ${MAX_WAITING_BLOBS} frames at once during the handshake`);
    }
    this.#wake?.();
  }
}
