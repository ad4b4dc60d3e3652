import type { StacksFile } from '../../compare/stacks/figures/stacks-file.ts';
import { formatStacksPart } from '../../compare/stacks/figures/stacks-markdown.ts';
import { measuredText, nullText } from '../../compare/stacks/figures/stacks-table.ts';
import { tokensText, tokenTables } from '../../compare/stacks/figures/tokens-table.ts';
import { oneLine } from '../../terminal/table.ts';
import type { TableView } from '../../terminal/table-view.ts';
import type { PanelsView } from '../panels-view.ts';
import { bound } from '../wording.ts';
import { cpuTimes, exchangeBytes, setupBytes } from './amounts-view.ts';
import { attributionView } from './attribution-view.ts';
import { loadCurves, roundsOverTime, throughput } from './curves-view.ts';
import { type DensitiesView, densitiesView } from './density-view.ts';
import { headlineOf } from './headline.ts';
import { type PairsView, pairsView } from './pairs-view.ts';
import type { StackedView } from './stacked-view.ts';
import { sizeSweep, taskGrowth } from './sweeps-view.ts';

/** A comparison of stacks as the page shows it; every arm stands where it was asked for. */
export interface StacksView {
  /** The answer in one line. */
  readonly sentence: string;
  /** What was wrong with the machine meanwhile. */
  readonly warnings: readonly string[];
  readonly made: string;
  readonly pairs: PairsView;
  readonly nullTest: string;
  /** null where no arm differs in more than one thing, or where there are too few invocations. */
  readonly attribution: StackedView | null;
  readonly bytes: StackedView;
  readonly latency: DensitiesView | null;
  readonly curves: PanelsView | null;
  readonly throughput: PanelsView | null;
  readonly sizes: PanelsView | null;
  readonly growth: PanelsView | null;
  readonly cpu: StackedView;
  readonly setup: StackedView;
  readonly rounds: PanelsView | null;
  readonly tokens: { readonly note: string; readonly tables: readonly TableView[] };
  /** What was measured and failed, with reasons. */
  readonly failed: readonly string[];
  /** What was asked for and is not there. */
  readonly absent: readonly string[];
  readonly limits: readonly string[];
  /** What measures it again; null where the file does not say. */
  readonly command: string | null;
  /** All of it, to be taken away. */
  readonly file: StacksFile;
}

export function viewStacks(file: StacksFile): StacksView {
  const { cpu, cpus, node } = file.environment;
  const machine = oneLine(
    `${cpu ?? 'unknown processor'}, ${cpus ?? '?'} cores, Node ${node ?? 'unknown'}`,
    120,
  );
  return {
    sentence: headlineOf(file),
    warnings: file.warnings.map((warning) => oneLine(warning, 200)),
    made: `${bound(oneLine(measuredText(file), 800))}. ${machine}.`,
    pairs: pairsView(file),
    nullTest: bound(oneLine(nullText(file), 400)),
    attribution: attributionView(file),
    bytes: exchangeBytes(file),
    latency: densitiesView(file),
    curves: loadCurves(file),
    throughput: throughput(file),
    sizes: sizeSweep(file),
    growth: taskGrowth(file),
    cpu: cpuTimes(file),
    setup: setupBytes(file),
    rounds: roundsOverTime(file),
    tokens: { note: bound(tokensText(file)), tables: tokenTables(file) },
    failed: file.failed.map((what) => oneLine(what, 300)),
    absent: file.left_out.map((what) => oneLine(what, 300)),
    limits: formatStacksPart(file).limits,
    command: file.command === null ? null : oneLine(file.command, 2000),
    file,
  };
}
