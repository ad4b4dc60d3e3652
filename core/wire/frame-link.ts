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
 * A connection that carries frames, independent of the layer below it. It begins with single messages ({@link
 * FrameLink.nextBlob}, for the handshake) and switches to a stream of runs with {@link FrameLink.start}.
 * Frames arrive whole, once and in order, or the connection ends.
 */
export interface FrameLink {
  /**
   * Settles when the connection has ended: with the reason, or with undefined if the other end just hung up.
   */
  readonly closed: Promise<MeshError | undefined>;
  readonly isClosed: boolean;
  /** Bytes of frames that this end received and sent: the ledgers must agree with them. */
  readonly bytesRead: number;
  readonly bytesWritten: number;
  /** Bytes received of a frame that is not complete yet, and of packets that wait for the start. */
  readonly pendingBytes: number;
  /** Bytes that wait in this process because the other end does not accept them. */
  readonly queuedBytes: number;

  /**
   * Returns the next blob of the handshake, without its prefix.
   *
   * @throws MeshError `handshake` when none comes in time or the connection ends
   */
  nextBlob(timeoutMs: number): Promise<Buffer>;

  /**
   * Announces that the next message of the handshake is the last one, or that none is left: frames behind it are
   * packets, which wait for {@link FrameLink.start}. After those that one read brought, further ones wait at the
   * other end.
   */
  expectPackets(maxFrameBytes: number, messagesLeft: 0 | 1): void;

  /**
   * Ends the handshake: from now on every run goes to `onRun`, in order, synchronously. An unread blob from
   * the handshake is a violation, since it would neither be received nor counted.
   */
  start(maxFrameBytes: number, onRun: (run: FrameRun) => void): void;

  /** Writes `blob` as a frame and returns the bytes that this put on the wire. */
  sendBlob(blob: Uint8Array): number;

  /**
   * Writes complete frames as they are. Returns true when every byte has been accepted, so that the buffer
   * may be reused.
   */
  sendFrames(frames: Uint8Array): boolean;

  /**
   * Writes frames that lie in slabs; a slab that is still needed afterwards is held. Returns true when every
   * byte has been accepted.
   */
  sendParts(parts: readonly SlabPart[]): boolean;

  /** Settles when nothing waits in this process any more, or the connection has ended. */
  drained(): Promise<void>;

  /** Stops reading: after a bounded number of bytes, further ones wait at the other end. */
  pause(): void;
  resume(): void;

  /** Sends the queued bytes, then closes. */
  end(): void;

  /** Closes at once. {@link FrameLink.closed} settles with `fault`, if given. */
  destroy(fault?: MeshError): void;

  /** Closes at once and drops bytes that the other end has not accepted: it would never accept them. */
  reset(fault: MeshError): void;
}
