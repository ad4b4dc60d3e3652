import type { AlikePackets } from '../adapter.ts';
import { monotonicUs } from '../clock.ts';
import type { FrameRun } from '../frame.ts';
import type { Slab } from '../slab.ts';
import type { Backpressure } from './backpressure.ts';
import type { Link } from './link.ts';
import { MAX_COALESCED_BYTES, TurnLog } from './turn-log.ts';

/** Who decides about packets. */
export interface PacketJudge {
  /** Checks and counts one packet and says who gets it. */
  judge(sender: Link, blob: Buffer, nowMs: number): readonly Link[];
  /** The same for packets with one head; undefined where each must be looked at. `bytes` are whole frames. */
  judgeAlike(sender: Link, alike: AlikePackets, bytes: number): readonly Link[] | undefined;
}

/** When a run arrived, and when the last of it was handed to the system; see `core/clock.ts`. */
export interface RelayTimes {
  readonly arrivedUs: number;
  readonly forwardedUs: number;
}

/**
 * Sends on what agents send: the bytes that came, untouched. Neighbours that go to the same destinations go as one slice; small slices
 * wait for the end of the turn and go with the others. Order per sender is kept.
 */
export class Relay {
  readonly #judge: PacketJudge;
  readonly #backpressure: Backpressure;
  readonly #log: TurnLog;
  readonly #coalesces: boolean;

  /** `coalesces` false: every slice is written at once, so that {@link RelayTimes} say when. */
  constructor(judge: PacketJudge, backpressure: Backpressure, coalesces: boolean) {
    this.#judge = judge;
    this.#backpressure = backpressure;
    this.#coalesces = coalesces;
    this.#log = new TurnLog((link) => backpressure.check(link));
  }

  relay(sender: Link, run: FrameRun): RelayTimes {
    const nowMs = performance.now();
    const arrivedUs = monotonicUs();
    const { codec } = sender;
    let forwardedUs = arrivedUs;
    let group: readonly Link[] = [];
    let groupStart = 0;
    let groupPackets = 0;
    /** `packets` frames from `start` on go to `links`; all before are judged. */
    const join = (links: readonly Link[], packets: number, start: number) => {
      if (links !== group) {
        if (groupPackets > 0) forwardedUs = this.#forward(run, groupStart, start, groupPackets, group);
        group = links;
        groupPackets = 0;
      }
      if (groupPackets === 0) groupStart = start;
      if (links.length > 0) groupPackets += packets;
    };
    const joinOne = () => {
      const start = run.at;
      const blob = run.next();
      if (blob !== undefined) join(this.#judge.judge(sender, blob, nowMs), 1, start);
      return blob !== undefined;
    };
    for (;;) {
      const start = run.at;
      const alike = codec.alike?.(run);
      const links = alike && this.#judge.judgeAlike(sender, alike, alike.end - start);
      if (alike !== undefined && links !== undefined) {
        run.at = alike.end;
        join(links, alike.packets, start);
        continue;
      }
      if (!joinOne()) break;
      if (alike !== undefined) while (run.at < alike.end) joinOne();
    }
    if (groupPackets > 0) forwardedUs = this.#forward(run, groupStart, run.at, groupPackets, group);
    return { arrivedUs, forwardedUs };
  }

  /** Writes what waits for the end of the turn. */
  flush(): void {
    this.#log.flush();
  }

  /** Says when it began: the first destination may have read its copy before the last one is written. */
  #forward(run: FrameRun, start: number, end: number, packets: number, links: readonly Link[]): number {
    const beganUs = monotonicUs();
    if (this.#coalesces && end - start <= MAX_COALESCED_BYTES) {
      this.#log.add(run.bytes.subarray(start, end), packets, links);
      return beganUs;
    }
    const offset = run.bytes.byteOffset - run.slab.bytes.byteOffset;
    this.#write(run.slab, offset + start, offset + end, packets, links);
    return beganUs;
  }

  #write(slab: Slab, start: number, end: number, packets: number, links: readonly Link[]): void {
    for (const link of links) {
      if (!link.deliverPart(slab, start, end, packets)) this.#backpressure.check(link);
    }
  }
}
