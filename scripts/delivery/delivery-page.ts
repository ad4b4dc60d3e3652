import os from 'node:os';
import { packageVersion } from '../../config/package-root.ts';
import { DELIVERIES, type Delivery } from '../../core/delivery.ts';
import {
  ACK_DELAY_MS,
  DELIVERY_WINDOW,
  MAX_ACK_IDS,
  MAX_MAILBOX_BYTES,
  MAX_OUTBOX_BYTES,
  MAX_OUTBOX_PACKETS,
} from '../../core/limits.ts';
import { median } from '../../core/statistics/quantile.ts';
import type { Transport } from '../../core/team.ts';
import { markdownTable } from '../markdown-table.ts';
import { machine } from '../perf/results-page.ts';
import { count, percent } from '../terminal/table.ts';
import type { DeliveryFigures, DeliveryRun } from './measure-delivery.ts';

/** One row a delivery; the first is the heading. Bytes are exact where all runs have the same, else from – to. */
export function deliveryRows({ transports }: DeliveryFigures): string[][] {
  return [
    [
      'delivery',
      'packets',
      'packet bytes',
      'handshake and books',
      'acknowledgements',
      'of packet bytes',
      'task, median',
    ],
    ...transports.flatMap(({ transport, runs }) =>
      DELIVERIES.map((delivery) => rowOf(transport, delivery, runs[delivery])),
    ),
  ];
}

function rowOf(transport: Transport, delivery: Delivery, own: readonly DeliveryRun[]): string[] {
  const range = (of: (run: DeliveryRun) => number) => rangeOf(own.map(of));
  const share = median(own.map((run) => run.ackBytes / run.packetBytes));
  return [
    transport === 'nats' ? `${delivery}, over NATS` : delivery,
    range((run) => run.packets),
    range((run) => run.packetBytes),
    range((run) => run.sessionBytes),
    range((run) => run.ackBytes),
    percent(share),
    `${median(own.map((run) => run.p50Ms)).toFixed(1)} ms`,
  ];
}

/** One sentence a transport. */
export function timeLines({ transports }: DeliveryFigures): string {
  const lines = transports.map(({ transport, time: { ratio, low, high, n } }) => {
    const interval = Number.isFinite(high)
      ? `95 % interval ${low.toFixed(2)} to ${high.toFixed(2)}`
      : 'too few rounds for an interval';
    const where =
      transport === 'nats'
        ? 'Over NATS, where a disk of the server keeps the outboxes'
        : 'Time of a task, acknowledged over at-most-once';
    return `${where}: ${ratio.toFixed(2)} (${interval}, ${n} rounds).`;
  });
  return lines.join('\n');
}

/** `docs/delivery.md` */
export function deliveryPage(figures: DeliveryFigures, revision: string): string {
  const mib = (bytes: number) => `${bytes / 2 ** 20} MiB`;
  return `# Delivery

Written by \`npm run delivery -- --write\`; do not edit (the text is in \`scripts/delivery/delivery-page.ts\`).

\`delivery: at-most-once\` is the default: what is under way when a connection ends is lost, and a task that needs it ends without an answer.
\`delivery: acknowledged\` in the team file, or \`bench --delivery acknowledged\`, makes tasks survive the death of any agent; with
\`--restart on-failure\` the launcher starts it again. A batch survives the death of the hub with either: \`bench --tasks … --resume\`.

## What is promised

- A packet that an agent has sent reaches every agent that is there or comes back: the sender keeps it in its outbox
  (\`workspaces/<id>/outbox.jsonl\`) until the hub has taken it over, the hub keeps it in a mailbox for each destination until that one is
  done with it.
- A finished result comes once. It is written to the outbox, whole, before any of it is sent; an agent that is killed and gets the same packet
  again sends what is there and does not work again. Work that was not finished is done again, from its packet; what it had asked others is
  asked again.
- After a reconnect both sides say what they have, in the handshake: the hub the last packet that it has from this agent, the agent what it is done
  with. All else is sent again in order. What comes twice is dropped by its id.
- Every packet for every destination is acknowledged, undeliverable (the agent did not come back) or waiting at the end; the three sum to what was
  noted, and acknowledgements are bytes of their own in the ledger. Else the run is reported as broken.

## What is not

- The hub's own death ends the run: the mailboxes are in its memory. What was finished is in \`results.jsonl\`, and the same command with \`--resume\`
  goes on from there, with agents that outlived the hub or with new ones: no result is lost or repeated, tasks that were under way begin
  again from their document.
- Over NATS outboxes are kept by the server ([nats.md](nats.md#acknowledged-delivery)): an agent may come back on another host.
- \`kill -9\` of a process loses nothing; the machine losing its power may, since nothing waits for the disk.
- Where \`--faults\` drops a delivery on a living connection, it comes again later than what came behind it. TCP itself drops nothing.
- Adapters whose members exchange keys at the start (\`anp\`, \`anp-e2ee\`, signing layers) take nobody back, as without acknowledgements.
- An agent of another make must say so in its handshake ([wire format](wire-format.md)); one that does not is refused.

## Bounds

| what | bound | beyond it |
| --- | --- | --- |
| outbox of an agent | ${count(MAX_OUTBOX_PACKETS)} packets, ${mib(MAX_OUTBOX_BYTES)}, and what came of one packet | its work waits before it sends |
| packets that an agent has and is not done with | ${count(DELIVERY_WINDOW)} | the others wait in its mailbox |
| mailbox of an agent | ${mib(MAX_MAILBOX_BYTES)}, and the outboxes of the senders | the hub takes nothing over, so outboxes fill |
| an acknowledgement | ${count(MAX_ACK_IDS)} packets, or ${ACK_DELAY_MS} ms | it is sent |

Nothing is left unread for backpressure: acknowledgements come the same way as packets.

## What it costs

- ${machine()}
- Gaia Mesh ${packageVersion}, revision ${revision}; default team, adapter json, ${figures.tasks} tasks of the shipped documents a run, four at a time
- ${new Date().toISOString().slice(0, 10)}; load of the machine at the end ${os.loadavg()[0]?.toFixed(1)}; runs of each in every one of ${figures.rounds} rounds, in random order

${markdownTable(deliveryRows(figures))}

${timeLines(figures)}

Bytes are written and read by the hub, together; what NATS adds is in none of them. How many acknowledgements travel in one frame depends on what comes within ${ACK_DELAY_MS} ms.
`;
}

function rangeOf(values: readonly number[]): string {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return low === high ? count(low) : `${count(low)} – ${count(high)}`;
}
