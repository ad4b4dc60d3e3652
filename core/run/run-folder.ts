import { randomBytes } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { MeshError, readSystemCode } from '../contracts/errors.ts';
import { FileLock } from '../system/files/file-lock.ts';
import { makeFolder } from '../system/files/make-folder.ts';
import { explainWriteFault } from '../system/files/whole-file.ts';
import { CACHE_FOLDER } from './agents/launcher.ts';

/** Finished runs that are kept beside the newest one, in `runs/`. */
const KEPT_RUNS = 10;
/** File that marks a folder as ours; a folder without it must not be emptied. */
const MARKER = '.gaia-mesh';
const LOCK = '.lock';
/**
 * Names in `runs/` that are ours: a folder with that name may well be the user's own, with other things in
 * it.
 */
const RUN_ID = /^\d{8}-\d{6}-[0-9a-f]{6}$/;
/**
 * Run names that a marker may contain: names within `runs/`, but neither that folder nor the one above it.
 */
const RUN_NAME = /^[\w-][\w.-]*$/;
export const isRunId = (name: string): boolean => RUN_ID.test(name);

/**
 * Files that runs leave in `workspaces/` beside the agents' folders; the last two suffixes exist while they
 * are written.
 */
const OF_RUNS =
  /^(\.gaia-mesh|\.lock|\.hub\.frames|hub\.log|(manifest|metrics)\.json|(tasks|results|recording)\.jsonl)(\.part|\.body)?$/;
/** Every agent's folder has one of these. */
const OF_AGENTS = ['agent.log', 'memory.json', CACHE_FOLDER];

/** Creates an id that sorts by time: `20261121-230941-5f3a9c`. */
export function createRunId(): string {
  const [date, time] = new Date().toISOString().replaceAll(/[-:]/g, '').split('.')[0]?.split('T') ?? [];
  return `${date}-${time}-${randomBytes(3).toString('hex')}`;
}

/**
 * The folder that a run writes to: `metrics.json`, `run_artifacts.tar.gz`, `results.jsonl` and `workspaces/`.
 * It is locked during a run; results of an earlier run are moved to `runs/<run id>/` first.
 */
export class RunFolder {
  readonly directory: string;
  readonly workspaces: string;
  #lock: FileLock | undefined;

  private constructor(directory: string) {
    this.directory = directory;
    this.workspaces = path.join(directory, 'workspaces');
  }

  /**
   * Takes the folder for one run and empties its workspaces, except the folders `kept` of agents that were
   * started by hand: they run already and write there. The last run's results go to `runs/`, unless
   * `keepsResults` is set to continue them.
   *
   * @throws MeshError `locked` while another run has it; `io` when it is not writable or not ours
   */
  static async open(
    directory: string,
    runId: string,
    kept: ReadonlySet<string>,
    keepsResults = false,
  ): Promise<RunFolder> {
    const folder = new RunFolder(directory);
    folder.#refuseLinks();
    try {
      makeFolder(folder.workspaces);
    } catch (error) {
      throw new MeshError(
        'io',
        `cannot make ${folder.workspaces}: ${explainWriteFault(error)}; choose another folder for the results`,
        { cause: error, setting: 'out' },
      );
    }
    const entries = (await readdir(folder.workspaces)).filter((name) => !kept.has(name));
    if (entries.length > 0 && !entries.includes(MARKER)) {
      throw new MeshError(
        'io',
        `${folder.workspaces} is not empty and was not made by gaia-mesh: choose another folder for the results`,
        { setting: 'out' },
      );
    }
    writeFileSync(path.join(folder.workspaces, MARKER), `${runId}\n`, { flag: 'a' });
    folder.#lock = folder.#take();
    // The marker may have come with foreign files, and now stand beside the user's.
    for (const name of entries) folder.#refuseForeign(name);
    if (!keepsResults) await folder.#retire(runId);
    await folder.#emptyWorkspaces(kept);
    writeFileSync(path.join(folder.workspaces, MARKER), `${runId}\n`);
    return folder;
  }

  /** Returns the paths of a run's files in `directory` without taking the folder. */
  static at(directory: string): Pick<RunFolder, 'headFile' | 'resultsFile'> {
    return new RunFolder(directory);
  }

  get metricsFile(): string {
    return path.join(this.directory, 'metrics.json');
  }

  get archiveFile(): string {
    return path.join(this.directory, 'run_artifacts.tar.gz');
  }

  get resultsFile(): string {
    return path.join(this.directory, 'results.jsonl');
  }

  /** The plan of the batch whose attempts are in {@link resultsFile}. */
  get headFile(): string {
    return path.join(this.directory, 'results.batch.json');
  }

  /** Releases the folder for the next run. */
  release(): void {
    this.#lock?.release();
  }

  /**
   * Refuses links in places where a run writes and deletes: they could lead it out of the folder.
   *
   * @throws MeshError `io`, naming the link
   */
  #refuseLinks(): void {
    const results = this.#results;
    const written = [...results, ...results.map((file) => `${file}.part`), path.join(this.directory, 'runs')];
    const ours = [this.workspaces, ...[MARKER, LOCK].map((name) => path.join(this.workspaces, name))];
    for (const file of [...written, ...ours]) refuseLink(file);
    // The last run's results are about to be moved there, over files with their names.
    if (RUN_NAME.test(this.#marked)) refuseLink(path.join(this.directory, 'runs', this.#marked));
  }

  /** Paths of a run's results beside its workspaces. */
  get #results(): string[] {
    return [this.metricsFile, this.archiveFile, this.resultsFile, this.headFile];
  }

  /** Id of the run that left the present files; its results go to the folder of that name below `runs/`. */
  get #marked(): string {
    return readText(path.join(this.workspaces, MARKER)).split('\n')[0] ?? '';
  }

  #take(): FileLock {
    return FileLock.take(
      path.join(this.workspaces, LOCK),
      (holder) =>
        `another run (process ${holder}) is writing to ${this.directory}: wait for it, or choose another folder for the results`,
      'out',
    );
  }

  /** Moves the last run's results to `runs/<run id>/`. */
  async #retire(runId: string): Promise<void> {
    const marked = this.#marked;
    // Results that none of our runs left are kept, too, and never deleted.
    const previous = marked === runId ? `before-${runId}` : marked;
    const results = this.#results.filter((file) => existsSync(file));
    if (RUN_NAME.test(previous) && results.length > 0) {
      const runs = path.join(this.directory, 'runs');
      const kept = path.join(runs, previous);
      mkdirSync(kept, { recursive: true });
      for (const file of results) await rename(file, path.join(kept, path.basename(file)));
      // Run ids begin with the time, so their order is the order of the runs.
      const old = (await readdir(runs)).filter(isRunId).sort().slice(0, -KEPT_RUNS);
      for (const run of old) await rm(path.join(runs, run), { recursive: true, force: true });
    }
  }

  /** @throws MeshError `io` for files that none of our runs leaves: they are not deleted */
  #refuseForeign(name: string): void {
    const file = path.join(this.workspaces, name);
    const status = readFileStatus(file);
    const isOurs =
      status?.isDirectory() === true
        ? OF_AGENTS.some((own) => existsSync(path.join(file, own))) || readdirSync(file).length === 0
        : status?.isSymbolicLink() === true || OF_RUNS.test(name);
    if (isOurs) return;
    this.#lock?.release();
    throw new MeshError(
      'io',
      `${file} was not made by gaia-mesh, which would delete it: move it, or choose another folder for the results`,
      { setting: 'out' },
    );
  }

  async #emptyWorkspaces(kept: ReadonlySet<string>): Promise<void> {
    for (const entry of await readdir(this.workspaces, { withFileTypes: true })) {
      const { name } = entry;
      if (name === LOCK || name === MARKER || kept.has(name)) continue;
      const target = path.join(this.workspaces, name);
      // `rm` follows no links, so only the link itself is removed.
      const hasCache = entry.isDirectory() && isFolder(path.join(target, CACHE_FOLDER));
      if (hasCache) await clearFolder(target, CACHE_FOLDER);
      else await rm(target, { recursive: true, force: true });
    }
  }
}

function refuseLink(file: string): void {
  if (!isLink(file)) return;
  throw new MeshError(
    'io',
    `${file} is a link, which may lead to foreign files: remove it, or choose another folder for the results`,
    { setting: 'out' },
  );
}

function isLink(file: string): boolean {
  return readFileStatus(file)?.isSymbolicLink() === true;
}

function isFolder(file: string): boolean {
  return readFileStatus(file)?.isDirectory() === true;
}

/** Returns the status of a file, or of a link itself; undefined if there is none. */
function readFileStatus(file: string): Stats | undefined {
  try {
    return lstatSync(file, { throwIfNoEntry: false });
  } catch (error) {
    if (readSystemCode(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

async function clearFolder(folder: string, kept: string): Promise<void> {
  for (const entry of await readdir(folder)) {
    if (entry !== kept) await rm(path.join(folder, entry), { recursive: true, force: true });
  }
}

/**
 * Creates `workspaces` and, if it is empty, marks it as a folder that runs may empty: an agent that is
 * started by hand may be the first to write there.
 */
export function markWorkspaces(workspaces: string): void {
  mkdirSync(workspaces, { recursive: true });
  if (readdirSync(workspaces).length === 0) writeFileSync(path.join(workspaces, MARKER), '');
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(readSystemCode(error) ?? '')) return '';
    throw error;
  }
}
