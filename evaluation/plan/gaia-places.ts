import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { defaultOut, userPath } from '@gaia-mesh/core/system/user-paths.ts';
import { storeFile } from '../store/sql/store-file.ts';
import { besides } from './batch-places.ts';

/** What the user says of places, as it was typed. */
export interface PlaceOptions {
  readonly questions?: string;
  readonly files?: string;
  readonly out?: string;
  readonly submission?: string;
  readonly store?: string;
}

/** Where everything goes. */
export interface GaiaPlaces {
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
export function folderOf({ files, questions }: PlaceOptions): string | undefined {
  if (files !== undefined) {
    const folder = userPath(files);
    if (!isFolder(folder)) throw new MeshError('usage', `--files ${folder}: there is no such folder`);
    return folder;
  }
  return questions === undefined ? undefined : path.dirname(userPath(questions));
}

export function placesOf(options: PlaceOptions): GaiaPlaces {
  const answers = answersPlace(options);
  const folder = path.dirname(answers);
  const { journal, stem, head, report } = besides(answers);
  const runs = `${stem}.runs`;
  return {
    answers,
    journal,
    head,
    report,
    submission:
      options.submission === undefined ? path.join(folder, SUBMISSION_FILE) : userPath(options.submission),
    folder,
    runs,
    files: path.join(runs, 'files'),
    store: storePlace(options),
  };
}

/** What the user should know of a store that an agent keeps and that lies among other things. */
export function exposedBy({ store }: PlaceOptions): string | undefined {
  const file = store === undefined ? undefined : storeFile(store, userPath('.'));
  if (file === undefined || !isFolder(path.dirname(file))) return undefined;
  const others = readdirSync(path.dirname(file)).filter((name) => !name.startsWith(path.basename(file)));
  if (others.length === 0) return undefined;
  return `--store: the agent that keeps the store may read and write all that is in ${path.dirname(file)}: give it a folder of its own`;
}

function answersPlace({ out }: PlaceOptions): string {
  if (out === undefined) return path.join(defaultOut(), 'runs', 'gaia', 'answers.jsonl');
  const answers = userPath(out);
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
export function storePlace(options: PlaceOptions): string {
  const { store } = options;
  if (store !== undefined) return storeFile(store, userPath('.')) ?? store;
  // In a folder of its own: the agent that works with it may read and write all that is beside it.
  return path.join(`${besides(answersPlace(options)).stem}.runs`, 'store', 'attempts.sqlite');
}

/** A file of one team: with several teams its name is in it. */
export function teamFile(file: string, team: string, teams: number): string {
  if (teams === 1) return file;
  const { dir, name, ext } = path.parse(file);
  return path.join(dir, `${name}.${team}${ext}`);
}
