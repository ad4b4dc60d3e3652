import { MeshError } from '../../core/errors.ts';
import { frameOf } from '../../core/frame.ts';
import type { FrameLink } from '../../core/frame-link.ts';
import { MAX_FRAME_BYTES } from '../../core/limits.ts';
import { median } from '../../core/statistics/quantile.ts';
import { ECHO } from './far-end.ts';

/** Frames that are sent with one call, as a relay does it. */
const BATCH_BYTES = 64 * 1024;
/** Bytes that may wait in this process; then it waits. */
const MAX_QUEUED_BYTES = 1024 * 1024;

/** One connection to a far end, on which one thing at a time is measured. */
export class MeasuredLink {
  readonly #link: FrameLink;
  #onEcho: () => void = () => undefined;
  #onEnd: (fault: MeshError) => void = () => undefined;

  constructor(link: FrameLink) {
    this.#link = link;
    void link.closed.then((fault) => this.#onEnd(fault ?? new MeshError('io', 'the far end hung up')));
    link.start(MAX_FRAME_BYTES, (run) => {
      for (const _ of run.blobs()) this.#onEcho();
      return 'done';
    });
  }

  /** Median microseconds of a frame there and back, with no other on its way. */
  async roundTripUs(frameBytes: number, times: number): Promise<number> {
    const frame = Buffer.alloc(frameBytes, ECHO);
    const samples: number[] = [];
    for (let i = 0; i < times; i++) {
      const beganMs = performance.now();
      await this.#echo(frame);
      samples.push((performance.now() - beganMs) * 1000);
    }
    return median(samples);
  }

  /** Milliseconds until `count` frames have been read at the far end. */
  async oneWayMs(frameBytes: number, count: number): Promise<number> {
    const frame = frameOf(Buffer.alloc(frameBytes));
    const perBatch = Math.max(1, Math.floor(BATCH_BYTES / frame.length));
    const batch = Buffer.concat(Array.from({ length: perBatch }, () => frame));
    const beganMs = performance.now();
    for (let sent = 0; sent < count; sent += perBatch) {
      this.#link.sendFrames(batch.subarray(0, Math.min(perBatch, count - sent) * frame.length));
      if (this.#link.queuedBytes > MAX_QUEUED_BYTES) await this.#link.drained();
    }
    // What comes back comes after all that went before.
    await this.#echo(Buffer.alloc(1, ECHO));
    return performance.now() - beganMs;
  }

  async #echo(blob: Uint8Array): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#onEcho = resolve;
    this.#onEnd = reject;
    // Then nobody will say so again.
    if (this.#link.isClosed) reject(new MeshError('io', 'the far end hung up'));
    this.#link.sendBlob(blob);
    await promise;
  }
}
