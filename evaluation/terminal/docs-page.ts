import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { codeFolder, isCheckout, packageVersion } from '@gaia-mesh/core/system/package-root.ts';
import * as z from 'zod';
import { describeMaking } from '../plan/making.ts';
import { printError } from './print.ts';

/** The part of a page between its markers, which a command writes; the rest is written by people. */
const PART = /(<!-- measured: .+ -->\n)[\s\S]*?(<!-- end of what was measured -->)/;

/** The list of all measured pages; `npm run results` measures them again. */
const LIST = 'docs/results/pages.json';

const listSchema = z.record(
  z.string(),
  z.strictObject({
    /**
     * Arguments of `npm run` that measure the page again; missing if that needs something which a checkout lacks. FOLDER stands for a new
     * folder, where nothing was learned or cached.
     */
    command: z.string().optional(),
    needs: z.string().optional(),
    /** Minutes on an idle machine with two cores. */
    minutes: z.number(),
    /** True if no figure depends on the load of the machine. */
    any_load: z.literal(true).optional(),
    /** Folders and files that the figures depend on most. */
    subject: z.array(z.string()).min(1),
  }),
);

/** Lists the measured pages of the checkout, by path from its root. */
export function listMeasuredPages(): [page: string, how: z.infer<typeof listSchema>[string]][] {
  return Object.entries(listSchema.parse(JSON.parse(readFileSync(path.join(codeFolder, LIST), 'utf8'))));
}

/** Matches two lines of a page: the state of its subject at the measurement, and the mark that the subject has changed since. */
const SUBJECT_LINE = /^- Subject: .+, state ([0-9a-f]{12})$/m;
const MARK = /^> \*\*Older than its subject\.\*\*.*\n\n/m;

/** Returns the page with a mark below its title if its subject has changed since it was measured, and without one if not. */
export function markAge(page: string, text: string, subject: readonly string[]): string {
  const plain = text.replace(MARK, '');
  if (SUBJECT_LINE.exec(plain)?.[1] === hashSubject(subject)) return plain;
  const again = `\`npm run results -- --only ${path.basename(page, '.md')}\``;
  return plain.replace(
    /^# .+\n\n/,
    (title) =>
      `${title}> **Older than its subject.** What this page measures has changed since; ${again} measures it again.\n\n`,
  );
}

/** Returns a short hash of all files of a subject but its tests. */
function hashSubject(subject: readonly string[]): string {
  const files = subject.flatMap((name) =>
    statSync(path.join(codeFolder, name)).isDirectory()
      ? readdirSync(path.join(codeFolder, name), { recursive: true, encoding: 'utf8' })
          .map((file) => path.posix.join(name, file.split(path.sep).join('/')))
          .filter((file) => /\.\w+$/.test(file) && !/\.test\.ts$|\/(testing|fixtures)\//.test(file))
      : [name],
  );
  const hash = createHash('sha256');
  for (const file of files.sort()) {
    if (!statSync(path.join(codeFolder, file)).isFile()) continue;
    hash.update(`${file}\n`).update(readFileSync(path.join(codeFolder, file)));
  }
  return hash.digest('hex').slice(0, 12);
}

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

/** Writes the measured part into `file`, with the command, the machine, the revision and the limits. */
export async function writeMeasured(file: string, part: MeasuredPart): Promise<void> {
  const page = path.relative(codeFolder, file).split(path.sep).join('/');
  const subject = isCheckout ? listMeasuredPages().find(([name]) => name === page)?.[1].subject : undefined;
  const text = formatMeasuredPart(part, await formatRevision(), subject);
  const whole = withPart(readFileSync(file, 'utf8'), text, path.basename(file));
  writeFileSync(file, subject === undefined ? whole : markAge(page, whole, subject));
  printError(`written: ${file}`);
}

function formatMeasuredPart(
  { facts, body, limits }: MeasuredPart,
  revision: string,
  subject: readonly string[] | undefined,
): string {
  const state =
    subject === undefined
      ? ''
      : `\n- Subject: ${subject.map((name) => `\`${name}\``).join(', ')}, state ${hashSubject(subject)}`;
  return `Written by \`${describeMaking().command}\`; do not edit.

- ${describeMachine()}; load at the end ${os.loadavg()[0]?.toFixed(1)}
- Gaia Mesh ${packageVersion}, revision ${revision}; ${facts}${state}

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

/** Returns the revision of the code as a page shows it. Pages that were measured before do not count as a change. */
export async function formatRevision(folder = codeFolder): Promise<string> {
  const git = async (...args: readonly string[]) =>
    (await promisify(execFile)('git', ['-C', folder, ...args], { timeout: 5000 })).stdout.trim();
  try {
    const revision = await git('rev-parse', '--short=12', 'HEAD');
    return (await git('status', '--porcelain', '--', ':/', ':(top,exclude)docs')) === ''
      ? revision
      : `${revision}, changed`;
  } catch {
    return 'unknown'; // There is no git or no checkout.
  }
}
