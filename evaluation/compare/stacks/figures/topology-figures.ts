import type { Recording } from '../../../../core/recording/recording.ts';
import { type ExchangePlan, exchangesOf, FITS, type Fit, TOPOLOGIES, type Topology } from '../exchanges.ts';
import type { TopologyPlay } from '../topology-play.ts';
import { linesOf, payloadBytes } from './arm-figures.ts';
import type { StacksFile } from './stacks-file.ts';

type Requests = StacksFile['requests'][number];
type Played = StacksFile['topologies'][number];

/** How the recording's packets become requests, in every topology and fit, for each number of agents: counted, not played. */
export function requestsOf(recording: Recording, agents: readonly number[]): Requests[] {
  const recorded = recording.header.agents.length;
  const numbers = agents.length === 0 ? [recorded] : agents.filter((count) => count >= recorded);
  return numbers.flatMap((count) =>
    TOPOLOGIES.flatMap((topology) =>
      FITS.map((fit) => ({
        topology,
        fit,
        agents: count,
        ...exchangesOf(recording, { topology, fit, agents: count }).counts,
      })),
    ),
  );
}

export function playedFigures(
  arm: string,
  { topology, fit, agents }: { topology: Topology; fit: Fit; agents: number },
  { plan, sessions, setup, setupMs, wire, exchangesMs }: TopologyPlay,
): Played {
  const { up, down } = payloadsOf(plan);
  return {
    arm,
    topology,
    fit,
    agents,
    sessions,
    setup_bytes: setup.sent.raw + setup.received.raw,
    setup_ms: setupMs,
    exchanges: plan.exchanges.length,
    sent: linesOf(wire.sent, up),
    received: linesOf(wire.received, down),
    bytes: wire.sent.raw + wire.received.raw,
    exchanges_ms: exchangesMs,
  };
}

function payloadsOf({ exchanges }: ExchangePlan): { readonly up: number; readonly down: number } {
  let up = 0;
  let down = 0;
  for (const { request, replies } of exchanges) {
    up += payloadBytes(request.payload);
    for (const { payload } of replies) down += payloadBytes(payload);
  }
  return { up, down };
}
