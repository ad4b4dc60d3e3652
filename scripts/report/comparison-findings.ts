import { oneLine } from '../terminal/table.ts';
import type { ComparedAdapter, ComparisonFigures } from './comparison-file.ts';
import { msText, ratioText } from './wording.ts';

/** What a chart of the comparison shows, in a sentence: its heading. */

export function bytesFinding({ adapters }: ComparisonFigures): string {
  const baseline = adapters.find(({ vs_baseline }) => vs_baseline === null);
  const others = adapters.filter((row) => row !== baseline);
  const wireOf = ({ ledger }: ComparedAdapter) => ledger.total.wire;
  const most = others.toSorted((a, b) => wireOf(b) - wireOf(a))[0];
  const fewest = others.toSorted((a, b) => wireOf(a) - wireOf(b))[0];
  if (baseline === undefined || most === undefined || fewest === undefined)
    return 'Bytes of the same packets';
  const base = `the bytes of ${nameOf(baseline)}`;
  const ratio = (row: ComparedAdapter) => ratioText(wireOf(row) / wireOf(baseline));
  const isBetween = wireOf(fewest) < wireOf(baseline) && wireOf(baseline) < wireOf(most);
  if (isBetween) return `${nameOf(most)} needs ${ratio(most)} ${base}, ${nameOf(fewest)} ${ratio(fewest)}`;
  const furthest = wireOf(most) > wireOf(baseline) ? most : fewest;
  return `${nameOf(furthest)} needs ${ratio(furthest)} ${base}`;
}

export function timeFinding({ adapters, baseline }: ComparisonFigures): string {
  const verdicts = adapters.flatMap(({ vs_baseline }) => vs_baseline?.time.verdict ?? []);
  const called = (['slower', 'faster'] as const).flatMap((verdict) => {
    const number = verdicts.filter((one) => one === verdict).length;
    return number === 0 ? [] : [`${number} of ${verdicts.length} ${number === 1 ? 'is' : 'are'} ${verdict}`];
  });
  const equal = verdicts.filter((one) => one === 'no detectable difference').length;
  const than = oneLine(baseline, 40);
  if (called.length === 0) return `No adapter differs detectably from ${than} in time`;
  const rest = equal === 0 ? [] : [`${equal} ${equal === 1 ? 'shows' : 'show'} no detectable difference`];
  return `Against ${than}, ${[...called, ...rest].join(', ')}`;
}

export function latencyFinding({ adapters }: ComparisonFigures): string {
  const sorted = adapters.toSorted((a, b) => a.latency_us.median - b.latency_us.median);
  const [quickest, slowest] = [sorted[0], sorted.at(-1)];
  if (quickest === undefined || slowest === undefined) return 'Time of a round';
  const text = (row: ComparedAdapter) => `${msText(row.latency_us.median / 1000)} with ${nameOf(row)}`;
  return quickest === slowest
    ? `A round takes ${text(quickest)}`
    : `A round takes ${text(quickest)}, ${text(slowest)}`;
}

function nameOf({ adapter }: ComparedAdapter): string {
  return oneLine(adapter, 40);
}
