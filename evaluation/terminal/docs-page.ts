import { readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { readGitRevision } from '@gaia-mesh/core/run/manifest.ts';
import { codeFolder, isCheckout, packageVersion } from '@gaia-mesh/core/system/package-root.ts';
import { printError } from './print.ts';
import { quoteShellWord } from './shell-word.ts';

/** The part of a page between its markers, which a command writes; the rest is written by people. */
const PART = /(<!-- measured: .+ -->\n)[\s\S]*?(<!-- end of what was measured -->)/;

/** The measured part of a page. */
export interface MeasuredPart {
  /** Description of the measurement and its size, for the line with version and revision. */
  readonly facts: string;
  readonly body: string;
  /** Limits of these numbers: each a conclusion that a reader might draw and should not. */
  readonly limits: readonly string[];
}

/** The checkout that the command runs from; tests have their own. */
interface PageLocation {
  readonly isCheckout: boolean;
  readonly codeFolder: string;
}

/**
 * Returns the file of a page whose measured part a command writes. Call it before anything is measured.
 *
 * @param name path from the root of the checkout, e.g. `docs/results/relay.md`
 * @throws MeshError `usage` outside of a checkout, since an installed package has no pages; `io` if the markers are missing
 */
export function resolvePage(name: string, place: PageLocation = { isCheckout, codeFolder }): string {
  if (!place.isCheckout) {
    throw new MeshError('usage', `--write: ${name} is part of a checkout; this is an installed package`);
  }
  const file = path.join(place.codeFolder, name);
  withPart(readFileSync(file, 'utf8'), '', name);
  return file;
}

/**
 * Writes the measured part into `file`, with the command, the machine, the revision and the limits.
 *
 * @param args the command as typed
 */
export async function writeMeasured(
  file: string,
  args: readonly string[],
  part: MeasuredPart,
): Promise<void> {
  const text = formatMeasuredPart(args, part, await formatRevision());
  writeFileSync(file, withPart(readFileSync(file, 'utf8'), text, path.basename(file)));
  printError(`written: ${file}`);
}

function formatMeasuredPart(
  args: readonly string[],
  { facts, body, limits }: MeasuredPart,
  revision: string,
): string {
  return `Written by \`${formatCommand(args)}\`; do not edit.

- ${describeMachine()}; load at the end ${os.loadavg()[0]?.toFixed(1)}
- Gaia Mesh ${packageVersion}, revision ${revision}; ${facts}

${body}

## What these numbers cannot tell

${limits.map((limit) => `- ${limit}`).join('\n')}`;
}

/** Returns the page with `part` between its markers. */
function withPart(page: string, part: string, name: string): string {
  if (!PART.test(page)) {
    throw new MeshError(
      'io',
      `${name}: expected the lines <!-- measured: … --> and <!-- end of what was measured -->`,
    );
  }
  return page.replace(PART, (_, begin: string, end: string) => `${begin}${part}\n${end}`);
}

/** Describes the machine in one line. */
export function describeMachine(): string {
  const [cpu] = os.cpus();
  const memory = Math.round(os.totalmem() / 2 ** 30);
  return `${os.cpus().length} cores (${cpu?.model.trim()}), ${memory} GiB, ${os.type()} ${os.release()}, Node ${process.version}`;
}

/** Returns the revision of the code as a page shows it. */
export async function formatRevision(folder = codeFolder): Promise<string> {
  const revision = (await readGitRevision(folder)) ?? 'unknown';
  return revision.endsWith('dirty') ? `${revision.slice(0, 12)}, changed` : revision.slice(0, 12);
}

/** Options with paths of this machine, each with a value. Anyone who measures again uses their own. */
const PLACES = ['--out', '--store', '--cache-file'];
/** A path outside the folder of the command: alone, after `--option=`, or in a list. */
const PATH_ELSEWHERE = /(?<=^|[=,])(?:\/|\.\.\/)[^,]+/g;

/** Reduces paths outside the user's folder to file names, so that private folders are not published. */
export function stripFolders(text: string): string {
  return text.replaceAll(PATH_ELSEWHERE, (file) => path.basename(file));
}

/** Returns the command as others can type it, without paths of this machine. */
export function formatCommand([name = '', ...options]: readonly string[]): string {
  const words = options
    .filter((word, at) => !PLACES.includes(word) && !PLACES.includes(options[at - 1] ?? ''))
    .map((word) => quoteShellWord(stripFolders(word)));
  return ['npm', 'run', name, '--', ...words].join(' ');
}
