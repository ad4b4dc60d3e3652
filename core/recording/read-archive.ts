import { existsSync } from 'node:fs';
import { list } from 'tar';
import { MeshError, messageOf } from '../contracts/errors.ts';
import { parseRecording, RECORDING_FILE, type Recording } from './recording.ts';

/** A recording within an archive, unpacked. Archives come from anywhere: a small one may unpack to anything. */
const MAX_RECORDING_BYTES = 512 * 1024 * 1024;

/**
 * The texts of an archive's files whose names are `wanted`, by name, without unpacking anything to disk; null where they have more
 * than `maxBytes` together. Of two files with one name the last counts, as when it is unpacked.
 *
 * @throws MeshError `config` when there is no archive, or it cannot be read
 */
export async function readArchivedTexts(
  archive: string,
  wanted: (name: string) => boolean,
  maxBytes: number,
): Promise<Map<string, string> | null> {
  if (!existsSync(archive)) throw new MeshError('config', `archive ${archive}: there is no such file`);
  const files = new Map<string, Buffer[]>();
  let bytes = 0;
  try {
    await list({
      file: archive,
      strict: true,
      filter: (name) => wanted(name),
      onReadEntry(entry) {
        const parts: Buffer[] = [];
        files.set(entry.path, parts);
        entry.on('data', (chunk) => {
          bytes += chunk.length;
          if (bytes <= maxBytes) parts.push(chunk);
        });
      },
    });
  } catch (error) {
    throw new MeshError('config', `archive ${archive} cannot be read: ${messageOf(error)}`, { cause: error });
  }
  if (bytes > maxBytes) return null;
  return new Map([...files].map(([name, parts]) => [name, Buffer.concat(parts).toString('utf8')]));
}

/**
 * Takes the recording out of a run's archive.
 *
 * @throws MeshError `config` when there is no archive, no recording in it, or one that cannot be replayed
 */
export async function readArchivedRecording(archive: string): Promise<Recording> {
  const texts = await readArchivedTexts(archive, (name) => name === RECORDING_FILE, MAX_RECORDING_BYTES);
  if (texts === null) {
    throw new MeshError(
      'config',
      `archive ${archive}: its recording has more than ${MAX_RECORDING_BYTES} bytes`,
    );
  }
  const text = texts.get(RECORDING_FILE);
  if (text === undefined || text === '')
    throw new MeshError('config', `archive ${archive} holds no ${RECORDING_FILE}`);
  return parseRecording(text, `${archive}:${RECORDING_FILE}`);
}
