import { createHash } from 'node:crypto';
import { type Packet, parsePacket } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import invalid from './a2a-invalid.json' with { type: 'json' };
import envelopes from './golden-agent-envelopes.json' with { type: 'json' };
import packets from './golden-packets.json' with { type: 'json' };

/**
 * The golden packets as agent protocols write them, generated without this code: A2A's protobuf bytes by
 * protobuf-es from the official `a2a.proto` v1.0.1. The largest one is stored as a hash only.
 */

const goldenBlob = z.union([z.string(), z.strictObject({ sha256: z.string() })]);

/** A blob in hex or as text, or its hash. */
type GoldenBlob = z.infer<typeof goldenBlob>;

const schema = z.array(
  z.strictObject({
    name: z.string(),
    a2aRequest: goldenBlob,
    a2aEvent: goldenBlob,
    a2aRequestProto: goldenBlob,
    a2aEventProto: goldenBlob,
    mcp: goldenBlob,
    rows: z.record(z.enum(['a2a', 'a2a-event', 'mcp']), z.record(z.string(), z.number())),
  }),
);

export const goldenEnvelopes = schema.parse(envelopes).map((envelope) => ({
  ...envelope,
  packet: packetNamed(envelope.name),
}));

/** A2A requests that must be refused, with the reason. */
export const invalidRequests = invalid;

/** Returns `blob` in the form of `golden`, for a comparison. */
export function shownLike(golden: GoldenBlob, blob: Uint8Array, encoding: 'utf8' | 'hex'): GoldenBlob {
  if (typeof golden === 'string') return Buffer.from(blob).toString(encoding);
  return { sha256: createHash('sha256').update(blob).digest('hex') };
}

function packetNamed(wanted: string): Packet {
  return parsePacket(packets.find(({ name }) => name === wanted)?.packet);
}
