import { createHash, type Hash } from 'node:crypto';
import { closeSync, createReadStream, fstatSync, readSync } from 'node:fs';
import path from 'node:path';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGunzip, gunzipSync } from 'node:zlib';
import type { ReadEntry } from 'tar';
import * as z from 'zod';
import { MeshError, toErrorMessage } from '../contracts/errors.ts';
import { ARCHIVE_LIMITS, MAX_RECORDING_BYTES, UNPACK_LIMITS } from '../contracts/limits.ts';
import { formatIssues } from '../contracts/packet.ts';
import { isGzip, openUserFile, readUserText } from '../system/files/user-file.ts';
import { parseForeignJson } from '../system/parse-json.ts';
import { parseRecording, RECORDING_FILE, type Recording } from './recording.ts';

const OPENING_BRACE = 0x7b;
/** Bytes that suffice to recognise the kind of a file. */
const PROBE_BYTES = 4096;
/** Compression ratio that deflate reaches with zeros. */
const MAX_UNPACK_RATIO_OF_DEFLATE = 1032;

/** Version of the manifests that this program reads. */
export const MANIFEST_VERSION = 1;
const MANIFEST_FILE = 'manifest.json';
const MAX_MANIFEST_BYTES = 16 * 1024 * 1024;

const manifestSchema = z.object({
  schema_version: z.literal(MANIFEST_VERSION),
  files: z.array(z.object({ path: z.string(), bytes: z.int().nonnegative(), sha256: z.string() })),
});

/**
 * Returns the texts of an archive's files whose names are `wanted`, by name, without unpacking anything to
 * disk; null if they exceed `maxBytes` together. The archive must be unchanged since its run: its manifest
 * has a digest of each file. An archive that was unpacked and packed again (`tar -C folder .`) is accepted.
 *
 * @throws MeshError `config` when there is no archive, it cannot be read, or a file of it is missing, foreign
 * or changed
 */
export async function readArchivedTexts(
  archive: string,
  wanted: (name: string) => boolean,
  maxBytes: number,
): Promise<Map<string, string> | null> {
  refuseOtherFile(archive, true);
  const content = new ArchiveContent(wanted, maxBytes);
  await readArchive(archive, content);
  const fault = findDigestDifference(content);
  if (fault !== undefined) throw new MeshError('config', `archive ${archive}: ${fault}`);
  return content.isTooLong ? null : content.texts;
}

/** The files of an archive as they are read: the digest of each, and the texts of those that are wanted. */
class ArchiveContent {
  readonly digests = new Map<string, Hash>();
  readonly texts = new Map<string, string>();
  manifest = '';
  readonly #wanted: (name: string) => boolean;
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(wanted: (name: string) => boolean, maxBytes: number) {
    this.#wanted = wanted;
    this.#maxBytes = maxBytes;
  }

  /** True if the wanted files have more than the bytes that a reader has room for. */
  get isTooLong(): boolean {
    return this.#bytes > this.#maxBytes;
  }

  /** Reads one entry, or returns what is wrong with it. */
  add(entry: ReadEntry): string | undefined {
    if (entry.path.length > ARCHIVE_LIMITS.pathCharacters)
      return `a name has more than ${ARCHIVE_LIMITS.pathCharacters} characters`;
    const name = path.posix.normalize(entry.path);
    if (entry.type === 'Directory') return undefined;
    if (entry.type !== 'File' && entry.type !== 'OldFile') return `${name} is a link or a device`;
    if (this.digests.has(name)) return `${name} comes twice`;
    if (this.digests.size === ARCHIVE_LIMITS.files) return `it holds more than ${ARCHIVE_LIMITS.files} files`;
    const isManifest = name === MANIFEST_FILE;
    if (isManifest && entry.size > MAX_MANIFEST_BYTES)
      return `${name} has more than ${MAX_MANIFEST_BYTES} bytes`;
    const digest = createHash('sha256');
    this.digests.set(name, digest);
    const isWanted = this.#wanted(name);
    if (isWanted) this.#bytes += entry.size;
    const isKept = isManifest || (isWanted && !this.isTooLong);
    const parts: Buffer[] = [];
    entry.on('data', (chunk) => {
      digest.update(chunk);
      if (isKept) parts.push(chunk);
    });
    entry.on('end', () => {
      const text = Buffer.concat(parts).toString('utf8');
      parts.length = 0;
      if (isManifest) this.manifest = text;
      if (isKept && isWanted) this.texts.set(name, text);
    });
    return undefined;
  }
}

/**
 * Unpacks an archive piece by piece into `content`, up to its bounds.
 *
 * @throws MeshError `config` with the first fault
 */
async function readArchive(archive: string, content: ArchiveContent): Promise<void> {
  const refused = (fault: string, cause?: unknown) =>
    new MeshError('config', `archive ${archive}: ${fault}`, { cause });
  const descriptor = openUserFile(archive, { what: 'archive' });
  const { size } = fstatSync(descriptor);
  const maxBytes = Math.min(
    ARCHIVE_LIMITS.unpackedBytes,
    Math.max(ARCHIVE_LIMITS.minUnpackedBytes, size * UNPACK_LIMITS.ratio),
  );
  const { Parser } = await import('tar');
  let fault: string | undefined;
  const parser = new Parser({
    strict: true,
    onReadEntry(entry) {
      fault ??= content.add(entry);
      entry.resume();
    },
  });
  parser.on('error', (error: unknown) => {
    fault ??= `it cannot be read: ${toErrorMessage(error)}`;
  });
  let hasEnded = false;
  parser.on('eof', () => {
    hasEnded = true;
  });
  let bytes = 0;
  const unpacked = new Writable({
    write(chunk: Buffer, _encoding, done) {
      // The parser would unpack a second time, without a bound.
      if (bytes === 0 && (isGzip(chunk) || isZstd(chunk))) fault ??= 'it is packed twice';
      bytes += chunk.length;
      if (bytes > maxBytes) fault ??= `unpacked, it has more than ${maxBytes} bytes`;
      // Bytes behind the end of an archive are not its content.
      if (fault === undefined && !hasEnded) parser.write(chunk);
      done(fault === undefined ? null : refused(fault));
    },
  });
  const start = Buffer.alloc(2);
  readSync(descriptor, start, 0, start.length, 0);
  const source = createReadStream(archive, { fd: descriptor, start: 0 });
  try {
    await (isGzip(start) ? pipeline(source, createGunzip(), unpacked) : pipeline(source, unpacked));
  } catch (error) {
    if (error instanceof MeshError) throw error;
    throw refused(`it cannot be read: ${toErrorMessage(error)}`, error);
  }
  parser.end();
  if (fault !== undefined) throw refused(fault);
}

function isZstd(bytes: Uint8Array): boolean {
  return bytes[0] === 0x28 && bytes[1] === 0xb5 && bytes[2] === 0x2f && bytes[3] === 0xfd;
}

/** Returns the first difference between an archive's files and its manifest, in words. */
function findDigestDifference({
  digests,
  manifest: text,
}: Pick<ArchiveContent, 'digests' | 'manifest'>): string | undefined {
  if (!digests.has(MANIFEST_FILE)) return `holds no ${MANIFEST_FILE}: expected run_artifacts.tar.gz of a run`;
  let value: unknown;
  try {
    value = parseForeignJson(text);
  } catch (error) {
    return `${MANIFEST_FILE} is not JSON: ${toErrorMessage(error)}`;
  }
  const version = z.looseObject({ schema_version: z.number() }).safeParse(value).data?.schema_version;
  if (version !== undefined && version !== MANIFEST_VERSION) {
    return `of version ${version}; this program reads version ${MANIFEST_VERSION}`;
  }
  const manifest = manifestSchema.safeParse(value);
  if (!manifest.success) return `${MANIFEST_FILE}: ${formatIssues(manifest.error)}`;
  const foreign = new Set(digests.keys());
  foreign.delete(MANIFEST_FILE);
  for (const file of manifest.data.files) {
    const digest = digests.get(file.path);
    if (digest === undefined) return `${file.path} is missing`;
    if (digest.copy().digest('hex') !== file.sha256) return `${file.path} was changed after the run`;
    foreign.delete(file.path);
  }
  const [first] = foreign;
  return first === undefined ? undefined : `${first} is not of the run: the manifest does not name it`;
}

/**
 * Reads a recording from a run's archive, or from a single file that `hub --record` or `import` wrote,
 * gzipped or not.
 *
 * @throws MeshError `config` when there is none, or it cannot be replayed
 */
export async function readRecording(file: string): Promise<Recording> {
  if (!isArchive(file)) {
    refuseOtherFile(file, false);
    const bounds = { what: 'recording', maxBytes: MAX_RECORDING_BYTES, unpacks: true };
    return parseRecording(readUserText(file, bounds), file);
  }
  const texts = await readArchivedTexts(file, (name) => name === RECORDING_FILE, MAX_RECORDING_BYTES);
  if (texts === null)
    throw new MeshError(
      'config',
      `archive ${file}: its recording is larger than ${MAX_RECORDING_BYTES} bytes`,
    );
  const text = texts.get(RECORDING_FILE);
  if (text === undefined || text === '')
    throw new MeshError('config', `archive ${file} holds no ${RECORDING_FILE}`);
  return parseRecording(text, `${file}:${RECORDING_FILE}`);
}

/** Other files of ours, and lists of questions: the kind, a pattern near the beginning of each, and the command that opens it. */
const OTHER_JSON: readonly (readonly [string, RegExp, string?])[] = [
  ['a log', /^\{"level"\s*:/, 'logs prints it'],
  ['the metrics of a run', /"(pkt_cnt|header_overhead|token_sum)"\s*:/, 'the archive lies beside it'],
  ['a comparison', /"kind"\s*:\s*"(?:adapters|stacks|teams)"/, 'report shows it'],
  ['the journal of a batch', /^\{"journal"\s*:/, 'report shows it'],
  ['the head of a batch', /"gaia_mesh"\s*:/, 'report shows it'],
  ['a manifest', /"sha256"\s*:/],
  ['a list of answers', /"task_id"[\s\S]*"final_answer"\s*:/, 'report shows the batch'],
  ['a list of questions', /"task_id"\s*:/, 'gaia --questions asks them'],
];

/**
 * Refuses a file that is neither an archive nor a recording, and says what it is and what was wanted.
 *
 * @throws MeshError `config`
 */
function refuseOtherFile(file: string, isArchiveWanted: boolean): void {
  const start = readStart(file, isArchiveWanted ? 'archive' : 'recording');
  const kind = recogniseOtherFile(start, isArchiveWanted);
  if (kind === undefined) return;
  const wanted = isArchiveWanted ? '' : ', or a recording of hub --record or import';
  throw new MeshError(
    'config',
    `${isArchiveWanted ? 'archive ' : ''}${file} is ${kind}: expected the run_artifacts.tar.gz of a run${wanted}`,
  );
}

/** Names the kind of file that begins with these bytes; undefined if it may be the wanted file. */
function recogniseOtherFile(start: Buffer, isArchiveWanted: boolean): string | undefined {
  if (start.length === 0) return 'empty';
  const text = (isGzip(start) ? gunzipStart(start) : start).toString('utf8');
  // This is an archive, whose reader names faults. It is checked first, since a small archive has a recording near its beginning.
  if (text.slice(257, 262) === 'ustar') return undefined;
  if (text.includes('"gaia-mesh-recording"'))
    return isArchiveWanted ? 'a recording without the rest of its run' : undefined;
  if (isGzip(start)) return undefined;
  if (text.includes('\u0000')) return 'no text and no archive';
  if (!/^\s*[[{]/.test(text)) return 'a text';
  const [kind = 'JSON of another kind', , advice] = findOurJson(text) ?? [];
  return advice === undefined ? kind : `${kind} (${advice})`;
}

const findOurJson = (text: string) => OTHER_JSON.find(([, field]) => field.test(text));

/** Names the kind of our file that begins with this text; undefined for other files. */
export const recogniseOurJson = (text: string): string | undefined => findOurJson(text)?.[0];

/**
 * Returns true if `file` is a run's archive: its unpacked content does not begin like the first line of a
 * recording.
 */
export function isArchive(file: string): boolean {
  const start = readStart(file, 'archive');
  return (isGzip(start) ? gunzipStart(start) : start)[0] !== OPENING_BRACE;
}

/** Reads the beginning of a file. */
function readStart(file: string, what: string): Buffer {
  const descriptor = openUserFile(file, { what });
  try {
    const bytes = Buffer.alloc(PROBE_BYTES);
    return bytes.subarray(0, readSync(descriptor, bytes));
  } finally {
    closeSync(descriptor);
  }
}

/** Unpacks the beginning of a gzipped file; returns an empty buffer if the file is invalid. */
function gunzipStart(bytes: Buffer): Buffer {
  try {
    // The file continues; the part that was read unpacks to its beginning.
    const maxOutputLength = MAX_UNPACK_RATIO_OF_DEFLATE * PROBE_BYTES;
    return gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength });
  } catch {
    return Buffer.alloc(0); // The reader of the archive reports the fault.
  }
}
