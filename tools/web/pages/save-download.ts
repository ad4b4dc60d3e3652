import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, link, mkdir, open, readdir, realpath, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { DOWNLOADS } from '@gaia-mesh/core/agent/task-files.ts';
import { MeshError, readSystemCode, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { FILE_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { limitBytes } from '@gaia-mesh/core/system/limit-bytes.ts';
import * as z from 'zod';
import type { DataTool, DataToolContext } from '../../data-tool.ts';
import { formatMegabytes, tooLarge } from '../bounded-body.ts';
import { fetchPublic } from '../public-fetch.ts';

/** Maximum bytes of a name: file systems take 255, and a number may be appended. */
const MAX_NAME_BYTES = 120;
/** Maximum characters considered, from the end, which has the extension. */
const MAX_CHARACTERS = 500;

const EXTENSIONS: Readonly<Record<string, string>> = {
  'text/html': '.html',
  'text/plain': '.txt',
  'text/csv': '.csv',
  'application/json': '.json',
  'application/pdf': '.pdf',
  'application/zip': '.zip',
  'application/xml': '.xml',
  'text/xml': '.xml',
  'image/png': '.png',
  'image/jpeg': '.jpg',
  'image/gif': '.gif',
  'image/webp': '.webp',
  'audio/mpeg': '.mp3',
  'audio/wav': '.wav',
  'video/mp4': '.mp4',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': '.xlsx',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': '.docx',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': '.pptx',
};

/**
 * Returns a safe file name from one that a model, a server or a URL supplied: its last part, without anything that a path, a
 * shell or a terminal could misread, not hidden, not too long; `download` if nothing is left (RA-52).
 */
function toSafeName(name: string): string {
  const last = name.split(/[/\\]/).findLast((part) => part !== '') ?? '';
  const clean = last
    .slice(-MAX_CHARACTERS)
    .normalize('NFC')
    .replace(/[^\p{L}\p{N} ._()+,=@-]/gu, '_')
    // The name must not be hidden, nor `..`, nor look like a command's option, nor end in characters that Windows drops.
    .replace(/^[.\s-]+|[.\s]+$/g, '');
  const extension = path.extname(clean).slice(0, 12);
  let stem = clean.slice(0, clean.length - path.extname(clean).length);
  while (Buffer.byteLength(stem + extension) > MAX_NAME_BYTES) stem = stem.slice(0, -1).toWellFormed();
  return stem.replace(/[_\s]/g, '') === '' && extension === '' ? 'download' : stem + extension;
}

/** Chooses a file name from the server's headers and the URL. */
function chooseDownloadName(url: string, mediaType: string, disposition: string | undefined): string {
  const said = parseDisposition(disposition ?? '') ?? takeLastPart(url);
  const name = toSafeName(said);
  const extension = EXTENSIONS[mediaType];
  return path.extname(name) === '' && extension !== undefined ? name + extension : name;
}

/** Parses the header: `filename*` is the exact name (RFC 6266), `filename` is for old clients. */
function parseDisposition(disposition: string): string | undefined {
  const exact = /filename\*\s*=\s*utf-8'[^']*'([^;\s]+)/i.exec(disposition)?.[1];
  if (exact !== undefined) return tryDecodeUri(exact);
  const plain = /filename\s*=\s*(?:"([^"]*)"|([^;\s]+))/i.exec(disposition);
  return plain?.[1] ?? plain?.[2];
}

function takeLastPart(url: string): string {
  const { pathname = '' } = URL.parse(url) ?? {};
  return tryDecodeUri(pathname.split('/').findLast((part) => part !== '') ?? '');
}

function tryDecodeUri(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    // A lone % is part of the name.
    if (error instanceof URIError) return text;
    throw error;
  }
}

/** Maximum files of one name. */
const MAX_SAME_NAME = 50;

interface SavedFile {
  /** The path in the task's files, as file tools take it: `downloads/table.csv`. */
  readonly file: string;
  readonly bytes: number;
}

/**
 * Writes a body into the task's `downloads/`, completely or not at all. An existing file is not touched: if the name is taken,
 * a number is appended (`table-2.csv`).
 *
 * @throws MeshError `tool` if it is too large, the folder is full, the task has no folder, or it cannot be written
 */
export async function saveDownload(
  { files }: Pick<DataToolContext, 'files'>,
  wanted: string,
  body: AsyncIterable<Uint8Array> | null,
): Promise<SavedFile> {
  const folder = await downloadFolder(files);
  const room = await measureRoom(folder);
  const name = toSafeName(wanted);
  // A hidden name that no download gets cannot be mistaken for a complete file.
  const part = path.join(folder, `.${randomBytes(8).toString('hex')}.part`);
  try {
    const most = Math.min(FILE_LIMITS.downloadBytes, room);
    const bytes = await writeWhole(part, limitBytes(body, most, tooLarge(name, most)));
    const file = await placeFile(part, folder, name);
    return { file: `${DOWNLOADS}/${file}`, bytes };
  } finally {
    await rm(part, { force: true });
  }
}

async function downloadFolder(files: string | undefined): Promise<string> {
  if (files === undefined) {
    throw new MeshError(
      'tool',
      'this run has no folder for files: nothing can be downloaded, fetch_page reads pages without one',
    );
  }
  const folder = path.join(files, DOWNLOADS);
  return tryFileStep(folder, async () => {
    await mkdir(folder, { recursive: true });
    const [root, real] = [await realpath(files), await realpath(folder)];
    if (real === path.join(root, DOWNLOADS)) return real;
    throw new MeshError('tool', `${DOWNLOADS}/ is a link to another folder: nothing is written there`);
  });
}

/** Returns the number of bytes that the folder still has room for. */
async function measureRoom(folder: string): Promise<number> {
  const names = await tryFileStep(folder, () => readdir(folder));
  if (names.length >= FILE_LIMITS.downloads) {
    throw new MeshError('tool', `${DOWNLOADS}/ has ${names.length} files already: use one of them`);
  }
  const sizes = await Promise.all(
    names.map((name) => tryFileStep(folder, () => stat(path.join(folder, name)))),
  );
  const room = FILE_LIMITS.downloadsBytes - sizes.reduce((sum, { size }) => sum + size, 0);
  if (room > 0) return room;
  throw new MeshError(
    'tool',
    `${DOWNLOADS}/ holds ${formatMegabytes(FILE_LIMITS.downloadsBytes)} already: nothing more is downloaded`,
  );
}

async function writeWhole(file: string, body: AsyncIterable<Uint8Array>): Promise<number> {
  const handle = await tryFileStep(file, () => open(file, 'wx', 0o644));
  try {
    let bytes = 0;
    for await (const part of body) {
      await tryFileStep(file, () => handle.writeFile(part));
      bytes += part.length;
    }
    await tryFileStep(file, () => handle.sync());
    return bytes;
  } finally {
    await handle.close();
  }
}

/** Gives a complete file the first free variant of its name. */
async function placeFile(part: string, folder: string, name: string): Promise<string> {
  const { name: stem, ext } = path.parse(name);
  for (let number = 1; number <= MAX_SAME_NAME; number++) {
    const free = number === 1 ? name : `${stem}-${number}${ext}`;
    if (await claimName(part, path.join(folder, free))) return free;
  }
  throw new MeshError(
    'tool',
    `${DOWNLOADS}/ has ${MAX_SAME_NAME} files named like ${name} already: use one of them`,
  );
}

/** Gives the file the name `target` unless it is taken, in one step: a check beforehand would be out of date. */
async function claimName(part: string, target: string): Promise<boolean> {
  try {
    await link(part, target).catch((error: unknown) => {
      // Some file systems have no hard links.
      if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(readSystemCode(error) ?? '')) throw error;
      return copyFile(part, target, constants.COPYFILE_EXCL);
    });
    return true;
  } catch (cause) {
    if (readSystemCode(cause) === 'EEXIST') return false;
    throw new MeshError('tool', `${target} cannot be written: ${toErrorMessage(cause)}`, { cause });
  }
}

/** Does a step with the file system; its errors are reported as they are, not as network failures. */
async function tryFileStep<Result>(file: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof MeshError || readSystemCode(cause) === undefined) throw cause;
    throw new MeshError('tool', `${file} cannot be written: ${toErrorMessage(cause)}`, { cause });
  }
}

const DOWNLOAD_TIMEOUT_MS = 120_000;

const input = z.strictObject({
  url: z.string().min(1),
  file_name: z.string().max(255).exactOptional(),
});

export const downloadFile: DataTool<z.infer<typeof input>> = {
  name: 'download_file',
  description: 'Downloads a file from the web.',
  input,
  async run({ url, file_name: wanted = '' }, context) {
    const { environment, signal } = context;
    return fetchPublic(url, { environment, signal, timeoutMs: DOWNLOAD_TIMEOUT_MS }, async (reply) => {
      const name =
        wanted.trim() === '' ? chooseDownloadName(reply.url, reply.mediaType, reply.disposition) : wanted;
      const { file, bytes } = await saveDownload(context, name, reply.body);
      const type = reply.mediaType === '' ? '' : `, ${reply.mediaType}`;
      return { text: `saved as ${file} (${bytes} bytes${type}) from ${reply.url}`, data: { file, bytes } };
    });
  },
};
