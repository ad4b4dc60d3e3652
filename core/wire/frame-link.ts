import type { MeshError } from '../contracts/errors.ts';
import type { FrameRun } from './frame.ts';
import type { Slab } from './slab.ts';

/** Complete frames in a slab. */
export interface SlabPart {
  readonly slab: Slab;
  readonly start: number;
  readonly end: number;
}

/**
 * A connection that carries frames, whatever is below it. It begins in turns ({@link FrameLink.nextBlob}, for the handshake) and goes
 * over to a stream of runs with {@link FrameLink.start}. Frames come whole, once and in order, or the connection ends.
 */
export interface FrameLink {
  /** Settles when the connection has ended: with the reason, or with nothing where the other end just hung up. */
  readonly closed: Promise<MeshError | undefined>;
  readonly isClosed: boolean;
  /** Bytes of frames that this end took and handed over: the books must agree with them. */
  readonly bytesRead: number;
  readonly bytesWritten: number;
  /** Of the bytes read, those of a frame that has begun and not ended. */
  readonly pendingBytes: number;
  /** Bytes that wait in this process because the other end does not take them. */
  readonly queuedBytes: number;

  /**
   * The next blob, without its prefix, while the connection is in turns.
   *
   * @throws MeshError `handshake` when none comes in time or the connection ends
   */
  nextBlob(timeoutMs: number): Promise<Buffer>;

  /**
   * Ends the turns: from now on every run goes to `onRun`, in order, synchronously. A blob that nobody asked for in the
   * turns is a violation: nobody would hear or count it.
   */
  start(maxFrameBytes: number, onRun: (run: FrameRun) => void): void;

  /** Writes `blob` as a frame and returns the bytes that this put on the wire. */
  sendBlob(blob: Uint8Array): number;

  /** Writes complete frames as they are. True when every byte has been taken, so that they may be reused. */
  sendFrames(frames: Uint8Array): boolean;

  /** Writes frames that lie in slabs; a slab that is still needed afterwards is held. True when every byte has been taken. */
  sendParts(parts: readonly SlabPart[]): boolean;

  /** Settles when nothing waits in this process any more, or the connection has ended. */
  drained(): Promise<void>;

  /** Stops reading: after a bounded number of bytes the other end's wait there. */
  pause(): void;
  resume(): void;

  /** Sends what is queued, then closes. */
  end(): void;

  /** Closes at once. `fault`, if any, is what {@link FrameLink.closed} settles with. */
  destroy(fault?: MeshError): void;

  /** The same, and what the other end has not taken is dropped: it would never take it. */
  reset(fault: MeshError): void;
}
