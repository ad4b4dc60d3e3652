import { packageVersion } from '@gaia-mesh/core/system/package-root.ts';
import type { ListedItem } from '../history/folder-items.ts';
import { fillPage } from './page-html.ts';

/** A run that is on or over: its page asks the server for what happens in it. */
export interface RunPlace {
  readonly kind: 'run';
  readonly title: string;
  /** True if the page belongs to the list of a folder, two levels above. */
  readonly isListed: boolean;
  readonly version: string;
}

/** A folder of results: its page has the whole list. */
export interface FolderPlace {
  readonly kind: 'folder';
  readonly title: string;
  readonly items: readonly ListedItem[];
  /** One phrase for each group of entries left out of the list. */
  readonly left: readonly string[];
  readonly version: string;
}

/** A page that a server of this machine serves, with the policy that it works under. */
export function watchHtml(place: Omit<RunPlace, 'version'> | Omit<FolderPlace, 'version'>): {
  html: string;
  policy: string;
} {
  const data = { ...place, version: packageVersion } satisfies RunPlace | FolderPlace;
  return fillPage(data, true);
}
