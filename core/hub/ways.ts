import { monotonicUs } from '../clock.ts';
import type { FrameRun, RunUse } from '../frame.ts';
import { HUB_ID, type Packet } from '../packet.ts';
import type { Backpressure } from './backpressure.ts';
import type { AcknowledgedDelivery } from './delivery/acknowledged-delivery.ts';
import type { FaultyDelivery } from './faults/faulty-delivery.ts';
import type { Link } from './link.ts';
import type { PacketJudge, Relay } from './relay.ts';
import type { RelayNews } from './relay-news.ts';

/** How what agents and the hub say gets to the agents: one of the three below for a whole run. */
export interface Way {
  /** Sends on what one agent sent. */
  relay(sender: Link, run: FrameRun): RunUse;
  /** Sends a packet of the hub's own, whole frame, to one agent. */
  send(packet: Packet, frame: Buffer, link: Link): void;
}

/** Runs of frames, untouched. */
export function straightWay(relay: Relay, news: RelayNews | undefined): Way {
  return {
    relay(sender, run) {
      const times = relay.relay(sender, run);
      news?.tell(times);
      return 'done';
    },
    send: (_packet, frame, link) => void link.deliver(frame, 1),
  };
}

/** Packet by packet, each delivery with the faults that were asked for. */
export function faultyWay(
  faults: FaultyDelivery,
  judge: PacketJudge,
  news: RelayNews,
  backpressure: Backpressure,
): Way {
  return {
    relay(sender, run) {
      let use: RunUse = 'done';
      eachPacket(sender, run, judge, news, (frame, recipients) => {
        for (const link of recipients) {
          if (faults.deliver(sender.node.id, link, frame, news.last) === 'done') continue;
          use = 'kept';
          backpressure.check(link);
        }
      });
      return use;
    },
    send: (packet, frame, link) => void faults.deliver(HUB_ID, link, frame, packet),
  };
}

/** Packet by packet, each kept for every destination until that is done with it. */
export function keptWay(delivery: AcknowledgedDelivery, judge: PacketJudge, news: RelayNews): Way {
  return {
    relay(sender, run) {
      eachPacket(sender, run, judge, news, (bytes, recipients) => {
        const head = news.last;
        if (recipients.length === 0 || head === undefined) return;
        // The relay's bytes are written over when it is done with them; one copy is kept for all.
        const frame = Buffer.from(bytes);
        for (const link of recipients) delivery.deliver({ from: sender.node.id, frame, head }, link);
      });
      return 'done';
    },
    send: (packet, frame, link) => delivery.deliver({ from: HUB_ID, frame, head: packet }, link),
  };
}

function eachPacket(
  sender: Link,
  run: FrameRun,
  judge: PacketJudge,
  news: RelayNews,
  deliver: (frame: Buffer, recipients: readonly Link[]) => void,
): void {
  const nowMs = performance.now();
  const arrivedUs = monotonicUs();
  let start = run.at;
  for (const blob of run.blobs()) {
    const recipients = judge.judge(sender, blob, nowMs);
    const forwardedUs = monotonicUs();
    deliver(run.bytes.subarray(start, run.at), recipients);
    news.tell({ arrivedUs, forwardedUs });
    start = run.at;
  }
}
