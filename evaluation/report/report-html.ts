import { packageVersion } from '@gaia-mesh/core/system/package-root.ts';
import type { BlameFile } from '../blame/blame-file.ts';
import type { ComparisonFile } from '../compare/comparison-file.ts';
import { type BlameView, blameView } from './blame/blame-view.ts';
import { buildGaiaView, type GaiaSource, type GaiaView } from './gaia/gaia-view.ts';
import { fillPage } from './page-html.ts';
import type { ArchivedRun } from './run/archived-run.ts';
import { buildRunData, type RunData } from './run/run-data.ts';
import { buildVersusView, type VersusView } from './run/versus-view.ts';
import type { FolderPlace, RunPlace } from './watch-html.ts';

export interface ReportSources {
  readonly comparison?: ComparisonFile | undefined;
  readonly gaia?: GaiaSource;
  readonly blame?: BlameFile;
  readonly runs: readonly ArchivedRun[];
}

/** All that a report shows, as it is embedded in its page. */
export interface ReportData {
  readonly gaia: GaiaView | null;
  readonly blame: BlameView | null;
  readonly comparison: ComparisonFile | null;
  readonly runs: readonly RunData[];
  readonly versus: VersusView | null;
}

/** A page of results from files, of a run that is on or over, or of a folder. */
export type PageData = (({ readonly kind: 'report' } & ReportData) | RunPlace | FolderPlace) & {
  readonly version: string;
};

/** Builds the report as one HTML file that loads nothing. */
export async function buildReportHtml(sources: ReportSources): Promise<string> {
  const data: PageData = { kind: 'report', version: packageVersion, ...(await buildReportData(sources)) };
  return fillPage(data, false).html;
}

export async function buildReportData({ comparison, gaia, blame, runs }: ReportSources): Promise<ReportData> {
  return {
    gaia: gaia === undefined ? null : buildGaiaView(gaia),
    blame: blame === undefined ? null : blameView(blame),
    comparison: comparison ?? null,
    runs: await Promise.all(runs.map(buildRunData)),
    versus: buildVersusView(runs),
  };
}
