import { createHash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { access, copyFile, mkdir, rename, stat } from 'node:fs/promises';
import path from 'node:path';
import { DOWNLOADS, resolveTaskFolder } from '@gaia-mesh/core/agent/task-files.ts';
import {
  explainFileFault,
  MeshError,
  readSystemCode,
  toErrorMessage,
} from '@gaia-mesh/core/contracts/errors.ts';
import { type Attachment, explainOutsideLink, type Question, toAttemptId } from './question.ts';
import type { ScoringApi } from './scoring-api.ts';

/** Sources of the questions' files, and the folder from which agents read them. */
interface FilePaths {
  /** Root of the agents' files, with one folder per task. */
  readonly root: string;
  /** The user's folder with the attachments; it has precedence (C-35). */
  readonly folder?: string | undefined;
  readonly api?: ScoringApi | undefined;
}

/**
 * Puts a question's file where the team can read it, just before the question is asked (C-34): copies it from the user's folder,
 * or else fetches it to `downloads/`. A missing file is recorded in the result and reported to the team, and the run goes on
 * (RA-04).
 *
 * @throws MeshError `io` if the agents' folder cannot be written, as on a full disk
 */
export async function placeFile(question: Question, cycle: number, paths: FilePaths): Promise<Question> {
  const { fileName } = question;
  if (fileName === undefined) return question;
  const into = resolveTaskFolder(paths.root, toAttemptId(question.taskId, cycle));
  await makeFolder(path.join(into, DOWNLOADS));
  const attachment = await placeAttachment(question.taskId, fileName, into, paths);
  return { ...question, attachment };
}

/**
 * Lists attachments that are missing from the user's folder or cannot be read, to report them before the first question
 * (REQ-052).
 */
export async function findMissingFiles(
  questions: readonly Question[],
  folder: string,
): Promise<{ taskId: string; why: string }[]> {
  const faults: { taskId: string; why: string }[] = [];
  for (const { taskId, fileName } of questions) {
    if (fileName === undefined) continue;
    const fault = await findFileFault(path.join(folder, fileName));
    if (fault !== undefined) faults.push({ taskId, why: `${path.join(folder, fileName)}: ${fault}` });
  }
  return faults;
}

async function placeAttachment(
  taskId: string,
  name: string,
  into: string,
  paths: FilePaths,
): Promise<Attachment> {
  const reasons: string[] = [];
  if (paths.folder !== undefined) {
    const source = path.join(paths.folder, name);
    const fault = await findFileFault(source);
    if (fault === undefined)
      return { ...(await copyAttachment(source, path.join(into, name))), name, from: 'folder' };
    reasons.push(`${source}: ${fault}`);
  }
  if (paths.api !== undefined) {
    const file = path.join(into, DOWNLOADS, name);
    try {
      return { status: 'placed', name, file, ...(await paths.api.file(taskId, file)), from: 'api' };
    } catch (error) {
      if (!(error instanceof MeshError) || error.code === 'interrupted') throw asPlaceFault(file, error);
      reasons.push(error.message);
    }
  }
  return {
    status: 'missing',
    name,
    reason: reasons.join('; ') || 'there is no folder to look in: give --files',
  };
}

/** Copies an attachment, since agents could not follow a link out of the folder that they may read. */
async function copyAttachment(
  source: string,
  file: string,
): Promise<Extract<Attachment, { status: 'placed' }>> {
  try {
    await copyFile(source, `${file}.part`);
    await rename(`${file}.part`, file);
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const chunk of createReadStream(file)) {
      hash.update(chunk);
      bytes += chunk.length;
    }
    return {
      status: 'placed',
      name: path.basename(file),
      file,
      bytes,
      sha256: hash.digest('hex'),
      from: 'folder',
    };
  } catch (error) {
    throw asPlaceFault(file, error);
  }
}

/** Returns the reason why a question's file cannot be read; undefined if it can. */
export async function findFileFault(file: string): Promise<string | undefined> {
  try {
    const found = await stat(file);
    // The author of the folder may have linked to any of the user's files, which would then go to the model.
    const fault = explainOutsideLink(file);
    if (fault !== undefined) return fault;
    if (!found.isFile()) return found.isDirectory() ? 'it is a folder' : 'it is not a regular file';
    await access(file, constants.R_OK);
    return undefined;
  } catch (error) {
    return explainFileFault(error);
  }
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    throw asPlaceFault(folder, error);
  }
}

/**
 * Turns a fault of the file system into an `io` error. The agents' folders are ours to write, so a failure there affects every
 * question.
 */
function asPlaceFault(file: string, error: unknown): unknown {
  if (readSystemCode(error) === undefined) return error;
  return new MeshError('io', `cannot write ${file}: ${toErrorMessage(error)}`, { cause: error });
}
