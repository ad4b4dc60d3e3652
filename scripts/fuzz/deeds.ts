import fc from 'fast-check';
import { frameOf } from '../../core/frame.ts';
import type { Packet } from '../../core/packet.ts';
import { bytes, type Damage, damaged, damages } from './damage.ts';
import type { MeshMember } from './mesh-member.ts';
import { anyPacket } from './packets.ts';

/** What the hostile member writes: a packet as it should be, a damaged one, or bytes that are no frame at all. */
interface Deed {
  readonly packet: Packet;
  readonly damages: readonly Damage[];
  readonly raw: Uint8Array;
  readonly kind: 'packet' | 'damaged' | 'raw';
}

export function deedOf(from: string): fc.Arbitrary<Deed> {
  return fc.record({
    packet: fc
      .tuple(anyPacket, fc.constantFrom('mesh.books', 'mesh.settle', 'doc_init', 'note'))
      .map(([packet, type]) => ({ ...packet, type, from })),
    damages,
    raw: fc.oneof(
      bytes,
      fc.constantFrom('00000000', '00010001', '7fffffff', 'ffffffff').map((hex) => Buffer.from(hex, 'hex')),
    ),
    kind: fc.constantFrom('packet', 'damaged', 'damaged', 'damaged', 'raw'),
  });
}

/** As frames, but for what is no frame. */
export function bytesOf(member: MeshMember, { kind, packet, damages: list, raw }: Deed): Uint8Array {
  if (kind === 'raw') return raw;
  const blob = member.encode(packet);
  return frameOf(kind === 'packet' ? blob : damaged(blob, member.encode(packet), list));
}
