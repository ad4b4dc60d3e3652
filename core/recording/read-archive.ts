import { createHash, type Hash } from 'node:crypto';
import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import path from 'node:path';
import { constants, gunzipSync } from 'node:zlib';
import { list } from 'tar';
import * as z from 'zod';
import { MeshError, readSystemCode, toErrorMessage } from '../contracts/errors.ts';
import { formatIssues } from '../contracts/packet.ts';
import { parseRecording, RECORDING_FILE, type Recording } from './recording.ts';

/**
 * Maximum bytes of an unpacked recording in an archive. Archives come from anywhere, and a small one may
 * unpack to anything.
 */
const MAX_RECORDING_BYTES = 512 * 1024 * 1024;

const OPENING_BRACE = 0x7b;
/** Bytes that suffice to recognise the kind of a file. */
const PROBE_BYTES = 4096;
/** Compression ratio that deflate reaches with zeros. */
const MAX_UNPACK_RATIO_OF_DEFLATE = 1032;

/** Version of the manifests that this program reads. */
export const MANIFEST_VERSION = 1;
const MANIFEST_FILE = 'manifest.json';
const MAX_MANIFEST_BYTES = 64 * 1024 * 1024;

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
  if (!existsSync(archive)) throw new MeshError('config', `archive ${archive}: there is no such file`);
  const digests = new Map<string, Hash>();
  const files = new Map<string, Buffer[]>();
  const manifest: Buffer[] = [];
  let bytes = 0;
  let fault: string | undefined;
  try {
    await list({
      file: archive,
      strict: true,
      onReadEntry(entry) {
        const name = path.posix.normalize(entry.path);
        if (entry.type === 'Directory') return;
        if (entry.type !== 'File' && entry.type !== 'OldFile') fault ??= `${name} is a link or a device`;
        if (digests.has(name)) fault ??= `${name} comes twice`;
        const digest = createHash('sha256');
        digests.set(name, digest);
        const isManifest = name === MANIFEST_FILE;
        const parts: Buffer[] = isManifest ? manifest : [];
        const isWanted = wanted(name);
        if (isWanted) files.set(name, parts);
        let manifestBytes = 0;
        entry.on('data', (chunk) => {
          digest.update(chunk);
          if (isManifest) manifestBytes += chunk.length;
          if (manifestBytes > MAX_MANIFEST_BYTES)
            fault ??= `${name} has more than ${MAX_MANIFEST_BYTES} bytes`;
          if (isWanted) bytes += chunk.length;
          if ((isWanted && bytes <= maxBytes) || (isManifest && fault === undefined)) parts.push(chunk);
        });
      },
    });
  } catch (error) {
    throw new MeshError('config', `archive ${archive} cannot be read: ${toErrorMessage(error)}`, {
      cause: error,
    });
  }
  fault ??= findDigestDifference(digests, manifest);
  if (fault !== undefined) throw new MeshError('config', `archive ${archive}: ${fault}`);
  if (bytes > maxBytes) return null;
  return new Map([...files].map(([name, parts]) => [name, Buffer.concat(parts).toString('utf8')]));
}

/** Returns the first difference between an archive's files and its manifest, in words. */
function findDigestDifference(
  digests: ReadonlyMap<string, Hash>,
  parts: readonly Buffer[],
): string | undefined {
  if (!digests.has(MANIFEST_FILE)) return `holds no ${MANIFEST_FILE}: expected run_artifacts.tar.gz of a run`;
  let value: unknown;
  try {
    value = JSON.parse(Buffer.concat(parts).toString('utf8'));
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
  if (!isArchive(file)) return parseRecording(readRecordingText(file), file);
  const texts = await readArchivedTexts(file, (name) => name === RECORDING_FILE, MAX_RECORDING_BYTES);
  if (texts === null) throw createTooLongError(`archive ${file}: its recording`);
  const text = texts.get(RECORDING_FILE);
  if (text === undefined || text === '')
    throw new MeshError('config', `archive ${file} holds no ${RECORDING_FILE}`);
  return parseRecording(text, `${file}:${RECORDING_FILE}`);
}

/**
 * Returns true if `file` is a run's archive: its unpacked content does not begin like the first line of a
 * recording.
 */
export function isArchive(file: string): boolean {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return true;
  const start = Buffer.alloc(PROBE_BYTES);
  const descriptor = openSync(file, 'r');
  const bytes = readSync(descriptor, start);
  closeSync(descriptor);
  return (isGzip(start) ? gunzipStart(start.subarray(0, bytes)) : start)[0] !== OPENING_BRACE;
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

function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

function readRecordingText(file: string): string {
  if (statSync(file).size > MAX_RECORDING_BYTES) throw createTooLongError(`recording ${file}`);
  const bytes = readFileSync(file);
  if (!isGzip(bytes)) return bytes.toString('utf8');
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_RECORDING_BYTES }).toString('utf8');
  } catch (error) {
    if (readSystemCode(error) === 'ERR_BUFFER_TOO_LARGE')
      throw createTooLongError(`recording ${file}, unpacked,`);
    throw new MeshError('config', `recording ${file} cannot be unpacked: ${toErrorMessage(error)}`, {
      cause: error,
    });
  }
}

function createTooLongError(what: string): MeshError {
  return new MeshError('config', `${what} has more than ${MAX_RECORDING_BYTES} bytes`);
}
