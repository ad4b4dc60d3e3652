import { Timeline } from '../../../core/recording/timeline.ts';
import { msText } from '../wording.ts';
import type { ArchivedRun } from './archived-run.ts';
import { type DistributionsView, distribution, distributionsTable, MIN_SAMPLES } from './distribution.ts';

/** Steps of one kind that a chart has room for. */
const MAX_HOPS = 16;

/**
 * How long each step of a task took: from the moment the packet that caused it was at the hub (for the document: began to be sent)
 * until the new one was there. null where no step was taken often enough to tell.
 */
export function hopsView({ recording }: ArchivedRun): DistributionsView | null {
  if (recording === null) return null;
  const tools = new Map(recording.header.agents.map(({ id, tool }) => [id, tool]));
  const steps = Map.groupBy(new Timeline(recording.packets).pieces(), ({ trace: { packet } }) => {
    return `${tools.get(packet.from) ?? packet.from} → ${packet.type}`;
  });
  const often = [...steps].filter(([, { length }]) => length >= MIN_SAMPLES);
  const distributions = often.slice(0, MAX_HOPS).flatMap(([label, pieces]) =>
    distribution(
      label,
      pieces.map(({ us }) => us / 1000),
    ),
  );
  const [slowest] = distributions.toSorted((a, b) => b.medianMs - a.medianMs);
  if (slowest === undefined) return null;
  return {
    finding: `The slowest step is ${slowest.label}, with a median of ${msText(slowest.medianMs)}`,
    distributions,
    table: distributionsTable(distributions),
  };
}
