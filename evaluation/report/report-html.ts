import { packageVersion } from '@gaia-mesh/core/system/package-root.ts';
import type { BlameFile } from '../blame/blame-file.ts';
import type { ComparisonFile } from '../compare/comparison-file.ts';
import { type BlameView, blameView } from './blame/blame-view.ts';
import { buildComparisonView, type ComparisonView } from './comparison/comparison-view.ts';
import { buildGaiaView, type GaiaSource, type GaiaView } from './gaia/gaia-view.ts';
import { buildPage } from './page-html.ts';
import type { ArchivedRun } from './run/archived-run.ts';
import { type RunView, runView } from './run/run-view.ts';
import { buildVersusView, type VersusView } from './run/versus-view.ts';
import { type StacksView, viewStacks } from './stacks/stacks-view.ts';

export interface ReportSources {
  readonly comparison?: ComparisonFile | undefined;
  readonly gaia?: GaiaSource;
  readonly blame?: BlameFile;
  readonly runs: readonly ArchivedRun[];
}

/** All that the page shows, as it is embedded in it. Numbers are in words already where they are read and not drawn. */
export interface ReportData {
  readonly version: string;
  readonly gaia: GaiaView | null;
  readonly blame: BlameView | null;
  readonly comparison: ComparisonView | null;
  readonly stacks: StacksView | null;
  readonly runs: readonly RunView[];
  readonly versus: VersusView | null;
}

/** The report as one HTML file that loads nothing. */
export async function buildReportHtml(sources: ReportSources): Promise<string> {
  return buildPage(await buildReportData(sources), 'main.js', false).html;
}

export async function buildReportData({ comparison, gaia, blame, runs }: ReportSources): Promise<ReportData> {
  const views: RunView[] = [];
  for (const [index, run] of runs.entries()) views.push(await runView(run, index + 1));
  return {
    version: packageVersion,
    gaia: gaia === undefined ? null : buildGaiaView(gaia),
    blame: blame === undefined ? null : blameView(blame),
    comparison: comparison?.kind === 'adapters' ? buildComparisonView(comparison) : null,
    stacks: comparison?.kind === 'stacks' ? viewStacks(comparison) : null,
    runs: views,
    versus: buildVersusView(runs),
  };
}
