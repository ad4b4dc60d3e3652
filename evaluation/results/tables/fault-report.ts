import type { RunMetrics } from '../../../core/run/metrics/metrics-schema.ts';
import type { FaultMetrics } from '../../../core/run/run-faults.ts';
import { count, decimals } from '../../terminal/table.ts';

/** What was injected, what was lost, how long recovery took, and whether the answers were still right; for people. */
export function faultReport(metrics: RunMetrics, faults: FaultMetrics): string[] {
  return [
    `Faults    ${faults.spec === null ? 'none asked for' : `${faults.spec}  (--fault-seed ${faults.seed})`}`,
    `Injected  ${injected(faults)}`,
    `Lost      ${losses(faults)}`,
    ...(faults.injected.corrupt > 0 || faults.injected.dup > 0
      ? [`Refused   ${count(metrics.refused_packets)} packets by those who got them`]
      : []),
    ...(faults.restart === 'on-failure' ? [`Recovery  ${recoveries(faults)}`] : []),
    `Answers   ${answers(faults.answers)}${faults.harmed.tasks > 0 ? `; of those with a delivery lost, corrupted or false ${answers(faults.harmed)}` : ''}`,
    '',
  ];
}

function injected({ injected: counts, deliveries, timed }: FaultMetrics): string {
  const parts = Object.entries(counts).flatMap(([kind, number]) =>
    number === 0 ? [] : [`${kind} ${count(number)}`],
  );
  const missed = timed.filter((record) => record.at_ms === null).map(({ fault }) => fault);
  const of = `${parts.join(', ') || 'nothing'} (${count(deliveries.offered.packets)} deliveries)`;
  return missed.length === 0 ? of : `${of}; the run was over before ${missed.join(', ')}`;
}

function losses({ lost, deliveries }: FaultMetrics): string {
  const { dropped, partitioned, undeliverable } = deliveries;
  const packets = dropped.packets + partitioned.packets + undeliverable.packets;
  if (packets === 0) return 'nothing';
  const agents = lost.map((agent) => {
    const sum = agent.dropped + agent.partitioned + agent.undeliverable;
    return `${agent.id} ${agent.tool} ${count(sum)}`;
  });
  return `${count(packets)} deliveries (${count(dropped.packets)} dropped, ${count(partitioned.packets)} between groups, ${count(undeliverable.packets)} to agents that were gone), by agent: ${agents.join(', ')}`;
}

function recoveries({ recoveries: all }: FaultMetrics): string {
  if (all.length === 0) return 'no agent was lost';
  return all
    .map(({ agent, tool, took_ms, attempts }) => {
      const starts = attempts > 1 ? `, ${attempts} starts` : '';
      return took_ms === null
        ? `${agent} ${tool} did not come back${starts}`
        : `${agent} ${tool} back after ${decimals(took_ms / 1000, 2)} s${starts}`;
    })
    .join('; ');
}

function answers({ tasks, answered, right }: FaultMetrics['answers']): string {
  const known = right === null ? '' : `, ${count(right)} right`;
  return `${count(answered)} of ${count(tasks)}${known}`;
}
