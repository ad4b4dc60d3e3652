import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { findDefaultOut, resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import { resolveStoreFile } from '../store/sql/store-file.ts';
import { deriveBatchPaths } from './batch-places.ts';

/** What the user says of places, as it was typed. */
export interface PlaceOptions {
  readonly questions?: string;
  readonly files?: string;
  readonly out?: string;
  readonly submission?: string;
  readonly store?: string;
}

/** Where everything goes. */
export interface GaiaPaths {
  readonly answers: string;
  readonly journal: string;
  /** What the batch is of, for reports. */
  readonly head: string;
  /** The page for a browser. */
  readonly report: string;
  readonly submission: string;
  /** For the log that people read. */
  readonly folder: string;
  /** For the meshes' own results, one folder a team, and what they work with. */
  readonly runs: string;
  readonly files: string;
  readonly store: string;
  /** A file of branches of a recorded question, which the questions are. */
  readonly branches?: string;
}

/** As in the course's own template. */
const SUBMISSION_FILE = 'submission_payload.log';

/**
 * GAIA has its attachments beside the questions.
 *
 * @throws MeshError `usage` for a folder that the user named and that is none: files that are missing from it are another matter
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

/** What the user should know of a store that an agent keeps and that lies among other things. */
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
 * The store's file, or the URL of a server.
 *
 * @throws MeshError `usage` for an address that is neither
 */
export function resolveStorePath(options: PlaceOptions): string {
  const { store } = options;
  if (store !== undefined) return resolveStoreFile(store, resolveUserPath('.')) ?? store;
  // In a folder of its own: the agent that works with it may read and write all that is beside it.
  return path.join(`${deriveBatchPaths(resolveAnswersPath(options)).stem}.runs`, 'store', 'attempts.sqlite');
}

/** A file of one team: with several teams its name is in it. */
export function nameTeamFile(file: string, team: string, teams: number): string {
  if (teams === 1) return file;
  const { dir, name, ext } = path.parse(file);
  return path.join(dir, `${name}.${team}${ext}`);
}
