import { MeshError } from '../../../core/contracts/errors.ts';
import type { JsonObject } from '../../../core/contracts/packet.ts';
import { parseRecording, type Recording } from '../../../core/recording/recording.ts';
import { type Span, spansIn } from '../import/otlp-spans.ts';
import { textOf } from '../loose-values.ts';
import type { ImportNotes, SourceValue } from '../message.ts';
import { ORDER, PACKET_ID, PACKETS, RECORDING_HEADER, recordingEntryIn } from './packet-attributes.ts';

/**
 * The recording that spans of ours were made of; undefined where the file has none. Nothing is guessed: packets, causes, times and
 * tokens are as they were, whichever way the spans went.
 *
 * @throws MeshError `config` for spans of several runs, and for a recording of which some are missing
 */
export function exportedRecording(
  values: readonly SourceValue[],
  file: string,
  notes: ImportNotes,
): Recording | undefined {
  const spans = spansIn(values).filter(({ attributes }) => attributes[PACKET_ID] !== undefined);
  if (spans.length === 0) return undefined;
  const headers = new Set(spans.map(({ resource }) => textOf(resource[RECORDING_HEADER]) ?? ''));
  const [header = ''] = headers;
  if (headers.size > 1 || header === '') {
    const what = headers.size > 1 ? `those of ${headers.size}` : `no ${RECORDING_HEADER} on their resource`;
    throw new MeshError('config', `${file}: expected the packets of one run, found ${what}: a run to a file`);
  }
  // A collector may have sent some of them twice.
  const packets = new Map(spans.map((span) => [String(span.attributes[PACKET_ID]), span.attributes]));
  const lost = Number(spans[0]?.resource[PACKETS] ?? packets.size) - packets.size;
  if (lost > 0)
    notes.drop('a packet: its span is missing', '# packets: their spans are missing', undefined, lost);
  const lines = [...packets.values()]
    .toSorted((a, b) => orderOf(a) - orderOf(b))
    .map((own) => entry(own, notes));
  return parseRecording([header, ...lines].join('\n'), file);
}

function entry(attributes: JsonObject, notes: ImportNotes): string {
  const { entry: line, hasPayload } = recordingEntryIn(attributes);
  if (!hasPayload)
    notes.drop(
      'the payload of a packet: its span has none',
      'payloads of # packets: their spans have none',
      String(attributes[PACKET_ID]),
    );
  return JSON.stringify(line);
}

function orderOf(attributes: Span['attributes']): number {
  return Number(attributes[ORDER] ?? 0);
}
