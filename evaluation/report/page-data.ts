import type { BlameFile } from '../blame/blame-file.ts';
import type { ComparisonFile } from '../compare/comparison-file.ts';
import type { ListedItem } from '../history/folder-items.ts';
import type { BatchData } from './batch-data.ts';
import type { RunData } from './run/run-data.ts';

/** All that a report shows, as it is embedded in its page. */
export interface ReportData {
  readonly batch: BatchData | null;
  readonly blame: BlameFile | null;
  readonly comparison: ComparisonFile | null;
  readonly runs: readonly RunData[];
}

/** A run that is on or over: its page asks the server for what happens in it. */
export interface RunPlace {
  readonly kind: 'run';
  readonly title: string;
  /** True if the page belongs to the list of a folder, two levels above. */
  readonly isListed: boolean;
}

/** A folder of results: its page has the whole list. */
export interface FolderPlace {
  readonly kind: 'folder';
  readonly title: string;
  readonly items: readonly ListedItem[];
  /** One phrase for each group of entries left out of the list. */
  readonly left: readonly string[];
}

/** The content of a page: results from files, a run that is on or over, or a folder. */
export type PageContent = ({ readonly kind: 'report' } & ReportData) | RunPlace | FolderPlace;

/** The origin of a page, which it shows at its foot. */
export interface PageOrigin {
  readonly version: string;
  readonly madeAt: string;
  /** The command line, without secrets. */
  readonly command: string;
  readonly machine: string;
}
