import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { recogniseOurJson } from '@gaia-mesh/core/recording/read-archive.ts';
import type { Recording } from '@gaia-mesh/core/recording/recording.ts';
import { buildRecording } from './build-recording.ts';
import { detectFormat, type FormatName, findFormat, formatNames } from './formats.ts';
import { toObject } from './loose-values.ts';
import { ImportNotes, type SourceValue } from './message.ts';
import { readSource } from './read-source.ts';

/** Summary of an import. */
export interface ImportReport {
  readonly format: FormatName;
  /** The sign by which the format was recognized; null if the user named the format. */
  readonly detected_by: string | null;
  readonly packets: number;
  readonly tasks: number;
  readonly agents: readonly string[];
  readonly payload_bytes: number;
  /** Facts that the file lacks and the import guessed, in words, with counts. */
  readonly guessed: readonly string[];
  /** Parts of the file that are not in the recording, in words, with counts. */
  readonly dropped: readonly string[];
}

interface Imported {
  readonly recording: Recording;
  readonly report: ImportReport;
}

/**
 * Imports a file of another tool as a recording.
 *
 * @param format null to detect it
 * @throws MeshError `config` for a file that cannot be read, is of no known kind or contains no message
 */
export function importTraffic(file: string, format: FormatName | null): Imported {
  const notes = new ImportNotes();
  const values = readSource(file, notes);
  const detected = format === null ? detectFormat(values) : undefined;
  const name = format ?? detected?.name;
  if (name === undefined) {
    const own = recogniseOurJson(JSON.stringify(values[0]?.value ?? null));
    const session = values.some(isAgentSession) ? ' (a session of a coding agent is not imported)' : '';
    const looks = own === undefined ? session : ` (it looks like ${own}, which is no traffic)`;
    const known = formatNames.map((each) => `${each}: ${findFormat(each).about}`).join('; ');
    throw new MeshError(
      'config',
      `${file}: its format was not recognized${looks}; name it with import --as (${known})`,
    );
  }
  const { header, packets } = buildImported(file, name, values, notes);
  const { guessed, dropped } = notes.said();
  return {
    recording: {
      header: {
        ...header,
        missing: addNotes(header.missing, dropped),
        guessed: addNotes(header.guessed, guessed),
      },
      packets,
    },
    report: {
      format: name,
      detected_by: detected === undefined ? null : `${detected.sign} in ${detected.where}`,
      packets: packets.length,
      tasks: packets.filter(({ cause }) => cause === null).length,
      agents: header.agents.map(({ id }) => id),
      payload_bytes: packets.reduce(
        (sum, { packet }) => sum + Buffer.byteLength(JSON.stringify(packet.payload)),
        0,
      ),
      guessed,
      dropped,
    },
  };
}

/** Returns true for a line of a session that Claude Code or Codex keeps. */
function isAgentSession({ value }: SourceValue): boolean {
  const { sessionId, message, type, payload } = toObject(value) ?? {};
  const isCodex = type === 'session_meta' || type === 'response_item';
  return isCodex
    ? toObject(payload) !== undefined
    : typeof sessionId === 'string' && toObject(message) !== undefined;
}

function addNotes(before: readonly string[] = [], more: readonly string[]): string[] | undefined {
  return before.length + more.length === 0 ? undefined : [...before, ...more];
}

function buildImported(
  file: string,
  name: FormatName,
  values: readonly SourceValue[],
  notes: ImportNotes,
): Recording {
  const messages = findFormat(name).read(values, notes);
  if (messages.length === 0) {
    const { dropped } = notes.said();
    const why = dropped.length === 0 ? '' : `; not imported: ${dropped.join('; ')}`;
    throw new MeshError('config', `${file}: no message of ${findFormat(name).about} is in it${why}`);
  }
  return buildRecording(messages, { runId: path.basename(file).slice(0, 200), format: name }, notes);
}
