import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { findDefaultOut, resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import { resolveStoreFile } from '../store/sql/store-file.ts';
import { deriveBatchPaths } from './batch-places.ts';

/** Paths as typed by the user. */
export interface PlaceOptions {
  readonly questions?: string | undefined;
  readonly files?: string;
  readonly out?: string;
  readonly submission?: string;
  readonly store?: string;
}

/** Resolved paths of a batch. */
export interface GaiaPaths {
  readonly answers: string;
  readonly journal: string;
  /** The head of the batch, for reports. */
  readonly head: string;
  /** The report, a page for a browser. */
  readonly report: string;
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

/** The name in the course's own template. */
const SUBMISSION_FILE = 'submission_payload.log';

/**
 * Returns the folder with the attachments. GAIA keeps them beside the questions.
 *
 * @throws MeshError `usage` if the user named something that is not a folder; files missing from it are reported elsewhere
 */
export function findFilesFolder({ files, questions }: PlaceOptions): string | undefined {
  if (files !== undefined) {
    const folder = resolveUserPath(files);
    if (!isFolder(folder)) throw new MeshError('usage', `--files ${folder}: there is no such folder`);
    return folder;
  }
  return questions === undefined ? undefined : path.dirname(resolveUserPath(questions));
}

export function resolveGaiaPaths(options: PlaceOptions): GaiaPaths {
  const answers = resolveAnswersPath(options);
  const folder = path.dirname(answers);
  const { journal, stem, head, report } = deriveBatchPaths(answers);
  const runs = `${stem}.runs`;
  return {
    answers,
    journal,
    head,
    report,
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
export function describeExposure({ store }: PlaceOptions): string | undefined {
  const file = store === undefined ? undefined : resolveStoreFile(store, resolveUserPath('.'));
  if (file === undefined || !isFolder(path.dirname(file))) return undefined;
  const others = readdirSync(path.dirname(file)).filter((name) => !name.startsWith(path.basename(file)));
  if (others.length === 0) return undefined;
  return `--store: the agent that keeps the store may read and write all that is in ${path.dirname(file)}: give it a folder of its own`;
}

function resolveAnswersPath({ out }: PlaceOptions): string {
  if (out === undefined) return path.join(findDefaultOut(), 'runs', 'gaia', 'answers.jsonl');
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
export function resolveStorePath(options: PlaceOptions): string {
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
