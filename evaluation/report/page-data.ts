import type { BlameFile } from '../blame/blame-file.ts';
import type { ComparisonFile } from '../compare/comparison-file.ts';
import type { BatchData } from './batch-data.ts';
import type { RunData } from './run/run-data.ts';

/** A result, as it is embedded in its page. */
export type ReportData =
  | { readonly kind: 'run'; readonly run: RunData }
  | { readonly kind: 'batch'; readonly batch: BatchData }
  | { readonly kind: 'blame'; readonly blame: BlameFile }
  | { readonly kind: 'comparison'; readonly comparison: ComparisonFile };

/** A running command, whose page requests its events from the server. */
interface LivePlace {
  readonly kind: 'live';
  readonly title: string;
}

/** A result in a folder, as the list shows it. */
export interface ListedItem {
  readonly id: string;
  readonly kind: string;
  /** The file's path below the folder. */
  readonly place: string;
  readonly modifiedMs: number;
  /** The question, or the number of tasks or arms. */
  readonly question: string;
  /** The answer, or the result in a sentence. */
  readonly answer: string;
  /** `right`, `wrong`, or the number of right answers; empty if it is not known. */
  readonly verdict: string;
  /** Team, adapter and engine, or the compared arms. */
  readonly setting: string;
}

/** A folder of results: its page has the whole list. */
export interface FolderPlace {
  readonly kind: 'folder';
  readonly title: string;
  readonly items: readonly ListedItem[];
  /** One phrase for each group of entries left out of the list. */
  readonly left: readonly string[];
}

export type PageContent = ReportData | LivePlace | FolderPlace;

/** The origin of a page, which it shows at its foot. */
export interface PageOrigin {
  readonly version: string;
  readonly madeAt: string;
  /** The command line, without secrets. */
  readonly command: string;
  readonly machine: string;
  /** True if the page belongs to the list of a folder, two levels above. */
  readonly isListed: boolean;
}
