import { packageVersion } from '../../core/system/package-root.ts';
import { pageOf } from './page-html.ts';

/** What a page of the watch knows before it asks. */
export interface WatchPlace {
  /** A run that is on or over, or a folder of them. */
  readonly kind: 'run' | 'folder';
  readonly title: string;
  /** It stands in a folder of them, two levels above. */
  readonly isListed: boolean;
  readonly version: string;
}

/** The page that follows a run, or shows a folder of them: it asks the server that it came from. */
export function watchHtml(place: Omit<WatchPlace, 'version'>): { html: string; policy: string } {
  const data: WatchPlace = { ...place, version: packageVersion };
  return pageOf(data, 'watch/main.js', true);
}
