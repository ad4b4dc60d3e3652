import os from 'node:os';
import { packageVersion } from '../../../config/package-root.ts';
import { machine } from '../results-page.ts';
import { unsureLoads } from './generator-limit.ts';
import { SMALL_BYTES } from './plan.ts';
import { relayTables } from './relay-tables.ts';
import { missingTargets, type RelayResults } from './run-rounds.ts';

/** `docs/relay.md` */
export function relayPage(results: RelayResults, revision: string, isQuick: boolean): string {
  const faults = [...new Set(results.outcomes.flatMap((outcome) => outcome.faults))];
  const abouts = results.targets.map(({ name, about }) => `- **${name}**: ${about}`).join('\n');
  return `# The relay

Written by \`npm run perf -- --relay --write${isQuick ? ' --quick' : ''}\`; do not edit.

The hub takes every packet of an agent to all others. This page sets it against what else could do that: yardsticks that show what Node, C
and the first hub that one writes can do, and brokers that people use for it. All carry the same packets for the same agents.

- ${machine()}
- Gaia Mesh ${packageVersion}, revision ${revision}; JSON packets, broadcast, counters exact and checked in every round
- ${new Date().toISOString().slice(0, 10)}; ${results.rounds} rounds; load of the machine at the end ${os.loadavg()[0]?.toFixed(1)}

What is compared:

${abouts}

Not installed here, so not measured: ${missingTargets(results).join(', ')}.

N agents, every packet of one goes to the N−1 others. Each target carries each load once a round, neighbours in an order of chance; figures
are medians over the rounds, with their lowest and highest in brackets. The machine changes its speed by itself: ratios are taken within a
round, and where "hub" and "hub again" differ, less than that difference means nothing.

${relayTables(results)}

## How it is measured

- Agents are sockets of one process in C (\`scripts/perf/relay/load.c\`). It attributes every delivery to its sender and counts it, and compares
  one packet of each read byte by byte with what was sent at that place; a lost, doubled or damaged one ends the measurement.
- Closed loop: at most 256 KiB of each agent are on the way, 4 MiB and 10,000 packets of all, but two of each. "Smallest packets" have ${SMALL_BYTES} bytes:
  an envelope with all its keys has not room in 64. Brokers carry the very same bytes as messages, and each agent hears all others but not itself.
- Node agents (\`scripts/perf/relay/client-agent.ts\`) count every delivery, check its sender, number and length, and compare one in 64 byte by byte. Each
  goes as far ahead as 256 KiB beyond the agent it has heard least of. What is there to be sent in one turn is sent with one write, as the client of NATS
  does by itself. Clients of Redis and MQTT for Node are not among this project's packages.
- Fixed rate: latencies count from the time at which a packet should have been sent, whatever held it up; the generator spins.
  Before, each agent has one packet on the way for two seconds: at the fixed rate code gets hot slowly, and V8 would compile it while it is
  measured, on threads that want the one core which the generator leaves. That made p99 of a young hub several times as long.
  The hub, the C relay and NATS have their latencies taken twice a round: what the machine does by chance weighs less.
- The load generator is not the bottleneck where it is idle (its own table above), and where the C relay is clearly faster than the hub under the
  same generator: what it takes from the one it could take from the other, so that the C relay bounds what can be seen here. ${doubtsIn(results)}
- A raw forwarder tears frames of several senders, so that only its bytes can be counted.
- Packets of a MiB are carried by more than four agents in two rounds only, and by 64 agents not over brokers that would hold 4 GiB of them.
${faults.length === 0 ? '' : `\n## Rounds that were not survived\n\n${faults.map((fault) => `- ${fault.slice(0, 300)}`).join('\n')}\n`}
## What these numbers cannot tell

Loopback is not a network. Hub, broker and generator share ${os.cpus().length} cores with everything else that runs: a hub with several threads has
less of them than it would like. Brokers do more than a relay: they keep subscriptions, and can persist.
`;
}

function doubtsIn(results: RelayResults): string {
  const unsure = unsureLoads(results);
  if (unsure.length === 0) return 'One of the two holds for every load here.';
  return `Neither holds for ${unsure.join('; ')}: there the hub may be faster than shown.`;
}
