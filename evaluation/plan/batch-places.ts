import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { quoteShellWord } from '@gaia-mesh/core/system/shell-word.ts';
import { resolveOutFolder, resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import { resolveStoreFile } from '../store/open-store.ts';

/** Returns the paths of the files beside an answers file. */
export function deriveBatchPaths(answers: string): {
  journal: string;
  stem: string;
  head: string;
  report: string;
  comparison: string;
} {
  const stem = path.join(path.dirname(answers), path.basename(answers, path.extname(answers)));
  return {
    stem,
    journal: `${answers}.journal`,
    head: `${stem}.batch.json`,
    report: `${stem}.report.html`,
    comparison: `${stem}.comparison.json`,
  };
}

/** Returns a path as the user would type it: relative if the file is below the user's folder. */
export function shortenPath(file: string): string {
  const relative = path.relative(resolveUserPath('.'), file);
  return relative.startsWith('..') ? file : relative;
}

/** Paths as typed by the user. */
interface TypedPaths {
  readonly questions?: string | undefined;
  readonly files?: string | undefined;
  readonly out?: string | undefined;
  readonly submission?: string | undefined;
  readonly store?: string | undefined;
}

/** Resolved paths of a batch. */
export interface GaiaPaths {
  readonly answers: string;
  readonly journal: string;
  /** The head of the batch, for reports. */
  readonly head: string;
  /** The report, a page for a browser. */
  readonly report: string;
  /** The comparison of several teams. */
  readonly comparison: string;
  readonly submission: string;
  /** Folder of the log for people. */
  readonly folder: string;
  /** Folder of the meshes' own results and working files, with one folder per team. */
  readonly runs: string;
  readonly files: string;
  readonly store: string;
  /** The file of branches of a recorded question, if the questions are branches. */
  readonly branches?: string | undefined;
}

/** The file name that the template of the agents course uses. */
const SUBMISSION_FILE = 'submission_payload.log';

/**
 * Returns the folder with the attachments. GAIA keeps them beside the questions.
 *
 * @throws MeshError `usage` if the user named something that is not a folder; files missing from it are reported elsewhere
 */
export function findFilesFolder({ files, questions }: TypedPaths): string | undefined {
  if (files !== undefined) {
    const folder = resolveUserPath(files);
    if (!isFolder(folder))
      throw new MeshError(
        'usage',
        `--files ${folder}: ${existsSync(folder) ? 'it is a file' : 'there is no such folder'}`,
      );
    return folder;
  }
  return questions === undefined ? undefined : path.dirname(resolveUserPath(questions));
}

export function resolveGaiaPaths(options: TypedPaths): GaiaPaths {
  const answers = resolveAnswersPath(options);
  const folder = path.dirname(answers);
  const { journal, stem, head, report, comparison } = deriveBatchPaths(answers);
  const runs = `${stem}.runs`;
  return {
    answers,
    journal,
    head,
    report,
    comparison,
    submission:
      options.submission === undefined
        ? path.join(folder, SUBMISSION_FILE)
        : resolveUserPath(options.submission),
    folder,
    runs,
    files: path.join(runs, 'files'),
    store: resolveStorePath(options),
  };
}

/** Warns about a store whose folder also holds other files, which the store's agent could read and write. */
export function describeExposure({ store }: TypedPaths): string | undefined {
  const file = store === undefined ? undefined : resolveStoreFile(store, resolveUserPath('.'));
  if (file === undefined || !isFolder(path.dirname(file))) return undefined;
  const others = readdirSync(path.dirname(file)).filter((name) => !name.startsWith(path.basename(file)));
  if (others.length === 0) return undefined;
  return `--store: the agent that keeps the store may read and write all that is in ${path.dirname(file)}: give it a folder of its own`;
}

function resolveAnswersPath({ out }: TypedPaths): string {
  if (out === undefined) return path.join(resolveOutFolder(), 'runs', 'gaia', 'answers.jsonl');
  const answers = resolveUserPath(out);
  if (isFolder(answers))
    throw new MeshError(
      'usage',
      `--out ${answers} is a folder: name the file for the answers, e.g. ${path.join(out, 'answers.jsonl')}`,
    );
  return answers;
}

function isFolder(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isDirectory() === true;
}

/**
 * Returns the store's file, or the URL of a server.
 *
 * @throws MeshError `usage` for an address that is neither
 */
export function resolveStorePath(options: TypedPaths): string {
  const { store } = options;
  if (store !== undefined) return resolveStoreFile(store, resolveUserPath('.')) ?? store;
  // The store gets a folder of its own, because its agent may read and write everything beside it.
  return path.join(`${deriveBatchPaths(resolveAnswersPath(options)).stem}.runs`, 'store', 'attempts.sqlite');
}

/** Returns the name of a team's file; with several teams it includes the team's name. */
export function nameTeamFile(file: string, team: string, teams: number): string {
  if (teams === 1) return file;
  const { dir, name, ext } = path.parse(file);
  return path.join(dir, `${name}.${team}${ext}`);
}

/** Matches the names of files and folders that commands write into a folder of results. */
const OURS =
  /^(workspaces|runs|store|\..*|(metrics|comparison|stacks|otlp|run_artifacts|matrix|results|report|blame|perfetto|trace)\b.*|.*\.part)$/;
/** Files that mark a folder as one with results of earlier commands. */
const MARKS = [path.join('workspaces', '.gaia-mesh'), 'comparison.json'];
/** Maximum names of foreign files that a message shows. */
const SHOWN = 3;

/**
 * Returns the folder for the results of a command. A folder that the user named may contain only earlier results and files that
 * the command line refers to.
 *
 * @throws MeshError `usage` for a folder with other files; the message suggests a folder below it
 */
export function chooseResultFolder(named: string | undefined): string {
  const folder = resolveOutFolder(named);
  const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  if (named === undefined || !isFolder || MARKS.some((name) => existsSync(path.join(folder, name))))
    return folder;
  const given = process.argv.slice(2).map((word) => resolveUserPath(word.replace(/^[^=]*=/, '')));
  const others = readdirSync(folder).filter(
    (name) => !OURS.test(name) && !given.includes(path.join(folder, name)),
  );
  if (others.length === 0) return folder;
  const shown = others.slice(0, SHOWN).join(', ') + (others.length > SHOWN ? ', …' : '');
  throw new MeshError(
    'usage',
    `${folder} has other files (${shown}), among which results would be lost: give them a folder of their own, such as --out ${quoteShellWord(path.join(named, 'results'))}`,
    { setting: 'out' },
  );
}
