import { opendir, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { DOWNLOADS } from '@gaia-mesh/core/agent/task-files.ts';
import { explainFileFault, MeshError, readSystemCode } from '@gaia-mesh/core/contracts/errors.ts';
import { FILE_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import * as z from 'zod';
import type { DataTool, DataToolContext } from '../data-tool.ts';
import { type LoadedFile, loadFile, quoteFileName } from './loaded-file.ts';

/** The file that a name leads to. */
interface FoundFile {
  /** Absolute path with links followed; for a missing file, its path in `downloads/`. */
  readonly path: string;
  /**
   * The name as `list_files` writes it: `./app.py`, `downloads/data.xlsx`; files of the agent's own start with
   * `workspace/`.
   */
  readonly name: string;
  readonly isThere: boolean;
}

/**
 * Matches records that an agent keeps of itself in its workspace. They are not files of the task: its log names
 * packets, and other files hold answers.
 */
const OWN_RECORDS = /(^|\/)(\.[^/]*|[^/]*\.log|memory\.json|[^/]*\.jsonl)(\.part)?$/i;
const isOwnRecord = (relative: string) => OWN_RECORDS.test(relative) && !relative.includes('/');

type FileContext = Pick<DataToolContext, 'files' | 'workspace'>;

/** Maximum length of a name; file systems allow 255 bytes between two slashes. */
const MAX_NAME_CHARACTERS = 1024;

const input = z.strictObject({
  name: z.string().min(1),
});

export const findFileTool: DataTool<z.infer<typeof input>> = {
  name: 'find_file',
  description: 'Finds a file of the task by name, whatever its case or folder.',
  input,
  async run({ name }, context) {
    const found = await findFile(context, name);
    const data = { path: found.path, name: found.name, is_there: found.isThere };
    if (found.isThere)
      return { text: `${quoteFileName(name)} is the file ${quoteFileName(found.name)}\n${found.path}`, data };
    return { text: `${await explainAbsence(context, name)}; it would be\n${found.path}`, data };
  },
};

const noArguments = z.strictObject({});

export const listFiles: DataTool<z.infer<typeof noArguments>> = {
  name: 'list_files',
  description: 'Lists the files of the task, downloads included.',
  input: noArguments,
  async run(_input, { files }) {
    const { names, isWhole } = await listTaskFiles(files);
    if (names.length === 0)
      return {
        text: 'No files found: the question came with none, and none were fetched.',
        data: { files: [] },
      };
    const more = isWhole ? [] : ['[there are more: only the first were looked at]'];
    return {
      text: ['Files found:', ...names.map(quoteFileName), ...more].join('\n'),
      data: { files: names.map((name) => name.toWellFormed()) },
    };
  },
};

/**
 * Finds the best match for a name that a model wrote, in this order (RA-45, C-15): exactly that path in the task's
 * files, then in `downloads/`; the same path apart from case, or the same last part; the agent's own workspace.
 * Otherwise returns the path in `downloads/`.
 *
 * Nothing outside these folders is found, whatever the name and wherever links lead (RA-52).
 *
 * @throws MeshError `tool` for a name that leads outside, and for anything but a regular file
 */
async function findFile(context: FileContext, name: string): Promise<FoundFile> {
  const relative = checkFileName(name);
  const { files, workspace } = context;
  const found =
    (files === undefined ? undefined : await findTaskFile(files, relative)) ??
    (isOwnRecord(relative) ? undefined : await findRegularFile(workspace, relative, `workspace/${relative}`));
  if (found !== undefined) return found;
  const inDownloads = relative.startsWith(`${DOWNLOADS}/`) ? relative : `${DOWNLOADS}/${relative}`;
  return { path: path.join(files ?? workspace, inDownloads), name: inDownloads, isThere: false };
}

/** Matches a member of an archive by the shortest archive name: archives in archives are not opened. */
const IN_ARCHIVE = /^(.+?\.zip)[/\\](.+)$/i;

/**
 * Loads the file that {@link findFile} finds for `name`, or a member of an archive of the task:
 * `photos.zip/harbour.png`.
 *
 * @throws MeshError `tool` for a file that is missing (REQ-052), too large, or outside the task's folders
 */
export async function loadTaskFile(context: FileContext, name: string): Promise<LoadedFile> {
  const [, archive, member] = IN_ARCHIVE.exec(name) ?? [];
  if (archive !== undefined && member !== undefined) {
    const { openZipMember } = await import('./archives/zip-report.ts');
    return openZipMember(await loadTaskFile(context, archive), member);
  }
  const found = await findFile(context, name);
  if (!found.isThere)
    throw new MeshError(
      'tool',
      `${await explainAbsence(context, name)}; it was looked for up to ${found.path}`,
    );
  return loadFile(found.path, found.name);
}

/** Lists the task's files: the folder's own, then `downloads/`, each sorted; `isWhole` is false when there are more. */
export async function listTaskFiles(
  files: string | undefined,
): Promise<{ names: string[]; isWhole: boolean }> {
  const root = files && (await resolveExisting(files, 'the folder of the task'));
  if (root === undefined || root === '') return { names: [], isWhole: true };
  const own = await listFolderFiles(root, root, './');
  const fetched = await listFolderFiles(root, path.join(root, DOWNLOADS), `${DOWNLOADS}/`);
  return { names: [...own.names, ...fetched.names], isWhole: own.isWhole && fetched.isWhole };
}

/** Returns `there is no file …` with the files that exist. */
async function explainAbsence(context: FileContext, name: string): Promise<string> {
  const { names } = await listTaskFiles(context.files);
  const few = names.slice(0, 20).map(quoteFileName).join(', ');
  const others =
    names.length === 0 ? 'the task has no files' : `the task has ${few}${names.length > 20 ? ', …' : ''}`;
  return `there is no file ${quoteFileName(name)}: ${others}`;
}

function checkFileName(name: string): string {
  const refuse = (why: string): never => {
    throw new MeshError(
      'tool',
      `${quoteFileName(name)} ${why}: give the name of a file of the task, as list_files writes it`,
    );
  };
  if (name.length > MAX_NAME_CHARACTERS) refuse(`is longer than ${MAX_NAME_CHARACTERS} characters`);
  if (name.includes('\0')) refuse('holds a NUL');
  // The checks cover both systems' notations: a path that is harmless on one may be harmful on the other.
  if (/^([/\\]|[A-Za-z]:|[A-Za-z][A-Za-z0-9+.-]+:[/\\])/.test(name))
    refuse('is not a path inside the folder of the task');
  const parts = name.split(/[/\\]/);
  if (parts.includes('..')) refuse('leads out of the folder of the task');
  const relative = path.posix.normalize(name);
  if (relative === '.' || relative.endsWith('/')) refuse('is a folder');
  return relative;
}

async function findTaskFile(files: string, relative: string): Promise<FoundFile | undefined> {
  const at = (way: string) => findRegularFile(files, way, way.startsWith(`${DOWNLOADS}/`) ? way : `./${way}`);
  const exact = (await at(relative)) ?? (await at(`${DOWNLOADS}/${relative}`));
  if (exact !== undefined) return exact;
  const similar = findSimilarName((await listTaskFiles(files)).names, relative);
  return similar === undefined ? undefined : at(path.posix.normalize(similar));
}

/** Returns the first name that differs from `relative` only in case, or else shares its last part. */
function findSimilarName(names: readonly string[], relative: string): string | undefined {
  const wanted = foldName(relative);
  return (
    names.find((name) => [`./${wanted}`, wanted, `${DOWNLOADS}/${wanted}`].includes(foldName(name))) ??
    names.find((name) => path.posix.basename(foldName(name)) === path.posix.basename(wanted))
  );
}

// Systems differ in how they encode an accented letter, and people in the slash they write.
const foldName = (name: string) => name.normalize('NFC').toLowerCase().replaceAll('\\', '/');

/** Returns the regular file `relative` in `folder`, or undefined when there is none. */
async function findRegularFile(
  folder: string,
  relative: string,
  name: string,
): Promise<FoundFile | undefined> {
  const root = await resolveExisting(folder, name);
  const target = root && (await resolveExisting(path.join(root, relative), name));
  if (root === undefined || target === undefined) return undefined;
  if (!isInside(root, target)) {
    throw new MeshError(
      'tool',
      `${quoteFileName(name)} is a link to something outside the folder of the task, so it is not read`,
    );
  }
  const status = await stat(target);
  if (status.isDirectory())
    throw new MeshError('tool', `${quoteFileName(name)} is a folder: name a file in it`);
  if (!status.isFile())
    throw new MeshError('tool', `${quoteFileName(name)} is not a regular file, so it is not read`);
  return { path: target, name, isThere: true };
}

/** Resolves a path's links; undefined when it does not exist. */
async function resolveExisting(file: string, name: string): Promise<string | undefined> {
  try {
    return await realpath(file);
  } catch (cause) {
    if (['ENOENT', 'ENOTDIR'].includes(readSystemCode(cause) ?? '')) return undefined;
    throw new MeshError('tool', `${quoteFileName(name)} cannot be accessed: ${explainFileFault(cause)}`, {
      cause,
    });
  }
}

function isInside(root: string, target: string): boolean {
  const way = path.relative(root, target);
  return way !== '' && way !== '..' && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way);
}

/** Lists the names of regular files in `folder`, including links to files inside `root`. */
async function listFolderFiles(
  root: string,
  folder: string,
  prefix: string,
): Promise<{ names: string[]; isWhole: boolean }> {
  const names: string[] = [];
  const target = await resolveExisting(folder, prefix);
  if (target === undefined || !(await stat(target)).isDirectory()) return { names, isWhole: true };
  if (target !== root && !isInside(root, target)) return { names, isWhole: true };
  let looked = 0;
  for await (const entry of await opendir(target)) {
    looked++;
    if (looked > FILE_LIMITS.listed) break;
    const isFile =
      entry.isFile() || (entry.isSymbolicLink() && (await isFileLink(root, path.join(target, entry.name))));
    if (isFile) names.push(prefix + entry.name);
  }
  return { names: names.sort(), isWhole: looked <= FILE_LIMITS.listed };
}

async function isFileLink(root: string, link: string): Promise<boolean> {
  try {
    const target = await realpath(link);
    return isInside(root, target) && (await stat(target)).isFile();
  } catch (error) {
    // The link leads nowhere, in circles, or to a forbidden folder.
    if (readSystemCode(error) !== undefined) return false;
    throw error;
  }
}
