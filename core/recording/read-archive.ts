import { existsSync } from 'node:fs';
import { list } from 'tar';
import { MeshError, messageOf } from '../errors.ts';
import { parseRecording, RECORDING_FILE, type Recording } from './recording.ts';

/** A recording within an archive, unpacked. Archives come from anywhere: a small one may unpack to anything. */
const MAX_RECORDING_BYTES = 512 * 1024 * 1024;

/**
 * Takes the recording out of a run's archive, without unpacking anything to disk.
 *
 * @throws MeshError `config` when there is no archive, no recording in it, or one that cannot be replayed
 */
export async function readArchivedRecording(archive: string): Promise<Recording> {
  if (!existsSync(archive)) throw new MeshError('config', `archive ${archive}: there is no such file`);
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    await list({
      file: archive,
      strict: true,
      filter: (name) => name === RECORDING_FILE,
      onReadEntry(entry) {
        entry.on('data', (chunk) => {
          bytes += chunk.length;
          if (bytes <= MAX_RECORDING_BYTES) parts.push(chunk);
        });
      },
    });
  } catch (error) {
    throw new MeshError('config', `archive ${archive} cannot be read: ${messageOf(error)}`, { cause: error });
  }
  if (parts.length === 0) throw new MeshError('config', `archive ${archive} holds no ${RECORDING_FILE}`);
  if (bytes > MAX_RECORDING_BYTES) {
    throw new MeshError(
      'config',
      `archive ${archive}: its recording has more than ${MAX_RECORDING_BYTES} bytes`,
    );
  }
  return parseRecording(Buffer.concat(parts).toString('utf8'), `${archive}:${RECORDING_FILE}`);
}
