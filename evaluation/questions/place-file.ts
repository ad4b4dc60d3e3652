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
import { type Attachment, isOutsideLink, LINK_FAULT, type Question, toAttemptId } from './question.ts';
import type { ScoringApi } from './scoring-api.ts';

/** Where files of questions come from, and where agents read them. */
interface FilePaths {
  /** One folder a task below it. */
  readonly root: string;
  /** The user's own folder with the attachments; it is asked first (C-35). */
  readonly folder?: string;
  readonly api?: ScoringApi;
}

/**
 * Puts a question's file where the team reads it, just before it is asked (C-34): copied from the user's folder, else fetched to
 * `downloads/`. What cannot be had is said in the result: the run goes on, and the team is told (RA-04).
 *
 * @throws MeshError `io` when the place itself cannot be written, as on a full disk
 */
export async function placeFile(question: Question, cycle: number, paths: FilePaths): Promise<Question> {
  const { fileName } = question;
  if (fileName === undefined) return question;
  const into = resolveTaskFolder(paths.root, toAttemptId(question.taskId, cycle));
  await makeFolder(path.join(into, DOWNLOADS));
  const attachment = await placeAttachment(question.taskId, fileName, into, paths);
  return { ...question, attachment };
}

/** Files that the user's folder should have and has not, or cannot be read: said before the first question (REQ-052). */
export async function findMissingFiles(questions: readonly Question[], folder: string): Promise<string[]> {
  const faults: string[] = [];
  for (const { taskId, fileName } of questions) {
    if (fileName === undefined) continue;
    const fault = await findFileFault(path.join(folder, fileName));
    if (fault !== undefined) faults.push(`${taskId}: ${path.join(folder, fileName)}: ${fault}`);
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

/** Copied, not linked: a link would point out of the folder that agents may read. */
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

async function findFileFault(file: string): Promise<string | undefined> {
  try {
    const found = await stat(file);
    // Whoever made the folder may have pointed it at any file of the user's, which then goes to the model.
    if (isOutsideLink(file)) return LINK_FAULT;
    if (!found.isFile()) return found.isDirectory() ? 'it is a folder' : 'it is no plain file';
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

/** Agents' own folders are ours to write: when that fails, it fails for every question. */
function asPlaceFault(file: string, error: unknown): unknown {
  if (readSystemCode(error) === undefined) return error;
  return new MeshError('io', `cannot write ${file}: ${toErrorMessage(error)}`, { cause: error });
}
