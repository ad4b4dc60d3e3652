import path from 'node:path';
import { isCheckout, packageFolder } from '../config/package-root.ts';
import { MeshError } from '../core/errors.ts';
import { gitRevision } from '../core/run/manifest.ts';

/** What the command runs from; tests have their own. */
export interface Place {
  readonly isCheckout: boolean;
  readonly packageFolder: string;
}

/**
 * The file of a page that a command writes into `docs/`. Asked for before anything is measured.
 *
 * @throws MeshError `usage` outside of a checkout: an installed package has no `docs/`
 */
export function docsPage(name: string, place: Place = { isCheckout, packageFolder }): string {
  if (!place.isCheckout) {
    throw new MeshError('usage', `--write: docs/${name} is part of a checkout; this is an installed package`);
  }
  return path.join(place.packageFolder, 'docs', name);
}

/** The revision of the code as such a page shows it. */
export async function shownRevision(folder = packageFolder): Promise<string> {
  const revision = (await gitRevision(folder)) ?? 'unknown';
  return revision.endsWith('dirty') ? `${revision.slice(0, 12)}, changed` : revision.slice(0, 12);
}
