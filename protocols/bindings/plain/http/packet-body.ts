import { HUB_ID, type Packet } from '../../../../core/contracts/packet.ts';
import { json } from '../../../json.ts';

const noKey = new Uint8Array(32);
const codec = json.open({
  runId: 'binding',
  self: HUB_ID,
  peer: '*',
  linkKey: noKey,
  runKey: noKey,
  offers: new Map(),
});

const NEWLINE = 0x0a;

export const JSON_TYPE = 'application/json';

/** Packets as one body: JSON of each on a line of its own, and nothing for none. */
export function bodyOfPackets(packets: readonly Packet[]): Buffer {
  return Buffer.from(packets.map((packet) => JSON.stringify(packet)).join('\n'));
}

/** @throws MeshError `packet` */
export function packetsOfBody(body: Buffer): Packet[] {
  const packets: Packet[] = [];
  for (let start = 0; start < body.length; ) {
    const newline = body.indexOf(NEWLINE, start);
    const end = newline === -1 ? body.length : newline;
    packets.push(codec.decode(body.subarray(start, end)));
    start = end + 1;
  }
  return packets;
}

/** @throws MeshError `packet` for anything but one packet */
export function packetOfBody(body: Buffer): Packet {
  return codec.decode(body);
}
