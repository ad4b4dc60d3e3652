import type { StacksComparison } from '../../compare/comparison-file.ts';
import { describeNullTest, describeOpen, describePlayed } from '../../compare/comparison-text.ts';
import { buildStackTables, TOKENS } from '../../compare/stacks/figures/stack-columns.ts';
import { toOneLine } from '../../terminal/table.ts';
import type { TableView } from '../../terminal/table-view.ts';
import type { PanelsView } from '../panels-view.ts';
import { bindNumbers } from '../wording.ts';
import { buildBytesView, buildCpuView, buildSetupView } from './amounts-view.ts';
import { buildAttributionView } from './attribution-view.ts';
import { buildRoundsPanels, buildThroughputView, loadCurves } from './curves-view.ts';
import { buildDensitiesView, type DensitiesView } from './density-view.ts';
import { buildPairsView, type PairsView } from './pairs-view.ts';
import type { StackedView } from './stacked-view.ts';
import { buildGrowthPanels, buildSizePanels } from './sweeps-view.ts';

/** A comparison of stacks as the page shows it; every arm stands where it was asked for. */
export interface StacksView {
  /** The answer in one line. */
  readonly sentence: string;
  /** Problems of the machine during the measurement. */
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
  /** Arms that failed, with reasons. */
  readonly failed: readonly string[];
  /** Requested arms that were left out. */
  readonly absent: readonly string[];
  readonly limits: readonly string[];
  /** The command line that repeats the measurement; null if the file lacks it. */
  readonly command: string | null;
  /** All of it, to be taken away. */
  readonly file: StacksComparison;
}

export function viewStacks(file: StacksComparison): StacksView {
  const { cpu, cpus, node } = file.environment;
  const machine = toOneLine(
    `${cpu ?? 'unknown processor'}, ${cpus ?? '?'} cores, Node ${node ?? 'unknown'}`,
    120,
  );
  const { sections, limits } = buildStackTables(file);
  const tokens = sections.find(({ heading }) => heading === TOKENS);
  return {
    sentence: bindNumbers(toOneLine(file.sentence ?? describeOpen(file) ?? '', 1200)),
    warnings: file.warnings.map((warning) => toOneLine(warning, 200)),
    made: `${bindNumbers(toOneLine(describePlayed(file), 800))}. ${machine}.`,
    pairs: buildPairsView(file),
    nullTest: bindNumbers(toOneLine(describeNullTest(file), 400)),
    attribution: buildAttributionView(file),
    bytes: buildBytesView(file),
    latency: buildDensitiesView(file),
    curves: loadCurves(file),
    throughput: buildThroughputView(file),
    sizes: buildSizePanels(file),
    growth: buildGrowthPanels(file),
    cpu: buildCpuView(file),
    setup: buildSetupView(file),
    rounds: buildRoundsPanels(file),
    tokens: { note: tokens?.note ?? '', tables: tokens?.tables.map(({ view }) => view) ?? [] },
    failed: file.failed.map((what) => toOneLine(what, 300)),
    absent: file.left_out.map((what) => toOneLine(what, 300)),
    limits,
    command: file.command === null ? null : toOneLine(file.command, 2000),
    file,
  };
}
