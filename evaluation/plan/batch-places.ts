import { existsSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { quoteShellWord } from '@gaia-mesh/core/system/shell-word.ts';
import { resolveOutFolder, resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import { resolveStoreFile } from '../store/open-store.ts';

/** Returns the paths of the files beside an answers file. */
export function deriveBatchPaths(answers: string) {
  const stem = path.join(path.dirname(answers), path.basename(answers, path.extname(answers)));
  return {
    stem,
    journal: `${answers}.journal`,
    /** The head of the batch, for reports. */
    head: `${stem}.batch.json`,
    /** The report, a page for a browser. */
    report: `${stem}.report.html`,
    /** The comparison of several teams. */
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

/**
 * Resolves the paths of a batch.
 *
 * @throws MeshError `usage` for a folder in place of the answers, and for a store that is neither a file nor the URL of a server
 */
export function resolveGaiaPaths(options: TypedPaths) {
  const { submission, store } = options;
  const answers = resolveAnswersPath(options);
  const folder = path.dirname(answers);
  const { stem, ...beside } = deriveBatchPaths(answers);
  const runs = `${stem}.runs`;
  return {
    answers,
    ...beside,
    submission: submission === undefined ? path.join(folder, SUBMISSION_FILE) : resolveUserPath(submission),
    /** Folder of the log for people. */
    folder,
    /** Folder of the meshes' own results and working files, with one folder per team. */
    runs,
    files: path.join(runs, 'files'),
    store:
      store === undefined
        ? // The store gets a folder of its own, because its agent may read and write everything beside it.
          path.join(runs, 'store', 'attempts.sqlite')
        : (resolveStoreFile(store, resolveUserPath('.')) ?? store),
  };
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
