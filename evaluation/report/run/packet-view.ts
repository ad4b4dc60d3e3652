import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import type { RecordedPacket } from '@gaia-mesh/core/recording/recording.ts';
import { PREFIX_BYTES } from '@gaia-mesh/core/wire/frame.ts';
import { toOneLine } from '../../terminal/table.ts';
import { type ByteWaterfall, buildByteWaterfall } from './byte-waterfall.ts';
import type { PacketWriter } from './packet-writer.ts';

/** Maximum characters of one packet's JSON, so that a page of hundreds opens at once. */
const MAX_JSON_CHARACTERS = 16 * 1024;
const MAX_HEX_BYTES = 4 * 1024;

/** The bytes of a packet, or why there are none to show. */
type BlobView =
  | { readonly base64: string; readonly bytes: number; readonly left: number }
  | { readonly fault: string };

export interface PacketView {
  readonly id: string;
  readonly type: string;
  readonly tag: string | null;
  readonly from: string;
  readonly to: string | null;
  /** Agents that sent something because of it. */
  readonly takenUpBy: readonly string[];
  readonly cause: string | null;
  /** null where its sender did not report it. */
  readonly toolMs: number | null;
  /** From the start of the task until it was at the hub; null where no hub recorded it. */
  readonly atMs: number | null;
  /** On the wire, with its length prefix. */
  readonly bytes: number | null;
  readonly json: string;
  readonly jsonLeft: number;
  readonly blob: BlobView;
  /** Purposes of its bytes, if the shown bytes are the run's. */
  readonly waterfall: ByteWaterfall | null;
}

/** The hub's record of a packet. */
export interface LoggedPacket {
  readonly atMs: number | null;
  readonly bytes: number | null;
}

export function buildPacketView(
  { packet, cause, toolUs, atMs, bytes }: RecordedPacket & LoggedPacket,
  takenUpBy: readonly string[],
  writer: PacketWriter | string,
): PacketView {
  const json = escapeInvisible(JSON.stringify(packet, null, 2));
  const { blob, waterfall, written } = buildBlobView(packet, writer);
  return {
    id: packet.id,
    type: toOneLine(packet.type, 64),
    tag: packet.tag === undefined ? null : toOneLine(packet.tag, 64),
    from: packet.from,
    to: packet.to ?? null,
    takenUpBy,
    cause,
    toolMs: toolUs === null ? null : toolUs / 1000,
    atMs,
    bytes: bytes ?? written,
    json: json.slice(0, MAX_JSON_CHARACTERS),
    jsonLeft: Math.max(0, json.length - MAX_JSON_CHARACTERS),
    blob,
    waterfall: bytes === null || bytes === written ? waterfall : null,
  };
}

function buildBlobView(
  packet: RecordedPacket['packet'],
  writer: PacketWriter | string,
): { blob: BlobView; waterfall: ByteWaterfall | null; written: number | null } {
  if (typeof writer === 'string') return { blob: { fault: writer }, waterfall: null, written: null };
  try {
    const { blob, line } = writer.write(packet);
    const shown = Buffer.from(blob.buffer, blob.byteOffset, Math.min(blob.length, MAX_HEX_BYTES));
    return {
      blob: { base64: shown.toString('base64'), bytes: blob.length, left: blob.length - shown.length },
      waterfall: writer.isExact ? buildByteWaterfall(packet.type, line) : null,
      written: writer.isExact ? PREFIX_BYTES + blob.length : null,
    };
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    return { blob: { fault: toErrorMessage(error) }, waterfall: null, written: null };
  }
}

/** Characters that are not seen, or that turn the order of others round, as JSON can write them: `\u202e`. */
function escapeInvisible(json: string): string {
  return json.replaceAll(/[\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from(
      { length: character.length },
      (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}
