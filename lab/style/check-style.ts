// Holds the figures of the sources that may fall and must not rise: `npm run style`. A figure above its limit fails; one below becomes
// the limit. `npm run style -- --list packing_spreads` shows what a figure counts.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import * as z from 'zod';
import { FIGURES, measureStyle } from './measure-style.ts';

const LIMITS_FILE = path.join(codeFolder, 'lab', 'style', 'limits.json');
const limitsSchema = z.record(z.enum(FIGURES), z.number().nonnegative());
const manifestSchema = z.object({ name: z.string(), workspaces: z.array(z.string()).default([]) });
/** Commits whose subjects are looked at. */
const COMMITS = 100;

const limits = limitsSchema.parse(JSON.parse(readFileSync(LIMITS_FILE, 'utf8')));
const { figures, findings } = measureStyle(readSources(), readFolders(), readSubjects());

const [flag, listed] = process.argv.slice(2);
if (flag === '--list') {
  for (const { figure, text } of findings) if (figure === listed) console.log(text);
} else {
  for (const name of FIGURES) console.log(`${name.padEnd(30)} ${figures[name]}${describe(name)}`);
  const lower = Object.fromEntries(FIGURES.map((name) => [name, Math.min(figures[name], limits[name])]));
  writeFileSync(LIMITS_FILE, `${JSON.stringify(lower, null, 2)}\n`);
  if (FIGURES.some((name) => figures[name] > limits[name])) process.exitCode = 1;
}

function describe(name: (typeof FIGURES)[number]): string {
  if (figures[name] < limits[name])
    return ` (was ${limits[name]}: lab/style/limits.json has the lower limit now)`;
  if (figures[name] === limits[name]) return '';
  return ` is above its limit of ${limits[name]}: npm run style -- --list ${name}`;
}

/** Reads the tracked sources that are no tests, by their names relative to the root. */
function readSources(): Map<string, string> {
  const files = git('ls-files', '--', '*.ts', '*.js', '*.tsx').filter(
    (file) => !/\.test\.[jt]sx?$|(?:^|\/)(?:testing|tests|fixtures)\/|\.d\.ts$|^(?:docs|config)\//.test(file),
  );
  return new Map(
    files
      .filter((file) => existsSync(path.join(codeFolder, file)))
      .map((file) => [file, readFileSync(path.join(codeFolder, file), 'utf8')]),
  );
}

function readFolders(): Map<string, string> {
  const readManifest = (folder: string) =>
    manifestSchema.parse(JSON.parse(readFileSync(path.join(codeFolder, folder, 'package.json'), 'utf8')));
  return new Map(readManifest('.').workspaces.map((folder) => [readManifest(folder).name, folder]));
}

/** Reads the subjects of the newest commits; those of merges say what was merged. */
function readSubjects(): string[] {
  return git('log', `-${COMMITS}`, '--no-merges', '--format=%s');
}

function git(...args: string[]): string[] {
  const text = execFileSync('git', args, { cwd: codeFolder, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  return text.split('\n').filter((line) => line !== '');
}
