import { fork } from 'node:child_process';
import path from 'node:path';
import * as z from 'zod';
import { MeshError } from '../../core/contracts/errors.ts';
import { MAX_FRAME_BYTES } from '../../core/contracts/limits.ts';
import type { MeshNode } from '../../core/hub/link.ts';
import type { RunTransport } from '../../core/transports/run-transport.ts';
import { frameOf } from '../../core/wire/frame.ts';
import type { FrameLink } from '../../core/wire/frame-link.ts';
import { median } from '../../evaluation/statistics/inference/quantile.ts';

/** First byte of a frame that the echo peer sends back; others it only reads. */
export const ECHO = 1;

/** Where the echo peer listens, on whatever transport. */
export const ECHO_NODE: MeshNode = { id: 'echo-peer', tool: 'none', port: 0, secret: '' };

const upSchema = z.object({ listening: z.int().nonnegative() });

export interface EchoPeer {
  readonly link: FrameLink;
  stop(): void;
}

/**
 * Starts the other process of a measurement and connects to it. Nothing is agreed: what is measured is the connection.
 *
 * @throws MeshError `agent` when it does not come up
 */
export async function startEchoPeer(
  transport: RunTransport,
  environment: NodeJS.ProcessEnv,
): Promise<EchoPeer> {
  const place = transport.placeOf(ECHO_NODE.id, 0);
  const subject = 'subject' in place ? [place.subject] : [];
  const child = fork(path.join(import.meta.dirname, 'echo-process.ts'), subject, {
    env: { ...environment, ...transport.environment },
  });
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  child.once('message', (message) => resolve(upSchema.parse(message).listening));
  child.once('exit', (code) => reject(new MeshError('agent', `the echo peer ended with ${code}`)));
  const link = await transport.dialler.dial({ ...ECHO_NODE, port: await promise });
  if (link === undefined) throw new MeshError('agent', 'the echo peer does not listen');
  return {
    link,
    stop() {
      link.destroy();
      if (child.connected) child.disconnect();
    },
  };
}

/** Frames that are sent with one call, as a relay does it. */
const BATCH_BYTES = 64 * 1024;
/** Bytes that may wait in this process; then it waits. */
const MAX_QUEUED_BYTES = 1024 * 1024;

/** One connection to a echo peer, on which one thing at a time is measured. */
export class MeasuredLink {
  readonly #link: FrameLink;
  #onEcho: () => void = () => undefined;
  #onEnd: (fault: MeshError) => void = () => undefined;

  constructor(link: FrameLink) {
    this.#link = link;
    void link.closed.then((fault) => this.#onEnd(fault ?? new MeshError('io', 'the echo peer hung up')));
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

  /** Milliseconds until `count` frames have been read at the echo peer. */
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
    if (this.#link.isClosed) reject(new MeshError('io', 'the echo peer hung up'));
    this.#link.sendBlob(blob);
    await promise;
  }
}
