import { isBindings, parseBindings } from '../../compare/bindings/figures/bindings-file.ts';
import { parseComparison } from '../../compare/comparison-file.ts';
import { type Table, tableOf } from './table.ts';

interface Sample {
  readonly arm: string;
  readonly metric: string;
  readonly invocation: number;
  readonly round: number;
  readonly value: number;
}

/** The samples of a comparison, of adapters or of bindings: a line a round. */
export function roundsTable(text: string, where: string): Table {
  const rows = isBindings(text) ? bindingSamples(text, where) : adapterSamples(text, where);
  return tableOf('rounds', rows, [
    ['arm', 'text', ({ arm }) => arm],
    ['metric', 'text', ({ metric }) => metric],
    ['invocation', 'integer', ({ invocation }) => invocation],
    ['round', 'integer', ({ round }) => round],
    ['us', 'number', ({ value }) => value],
  ]);
}

function adapterSamples(text: string, where: string): Sample[] {
  return parseComparison(text, where).adapters.flatMap((row) => [
    ...samplesOf(row.adapter, 'time', row.samples_us),
    ...samplesOf(row.adapter, 'cpu', row.samples_cpu_us ?? []),
    ...samplesOf(
      row.adapter,
      'first_use',
      row.samples_first_us.map((us) => [us]),
    ),
  ]);
}

function bindingSamples(text: string, where: string): Sample[] {
  return parseBindings(text, where).arms.flatMap((row) =>
    Object.entries(row.samples).flatMap(([metric, samples]) =>
      samplesOf(row.name, metric.replace(/_us$/, ''), samples),
    ),
  );
}

function samplesOf(arm: string, metric: string, samples: readonly (readonly number[])[]): Sample[] {
  return samples.flatMap((rounds, invocation) =>
    rounds.map((value, round) => ({ arm, metric, invocation, round, value })),
  );
}
