import { isDeepStrictEqual } from 'node:util';
import type { ProtocolAdapter } from '@gaia-mesh/core/contracts/adapter.ts';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { type LedgerLine, measureLine } from '@gaia-mesh/core/contracts/ledger.ts';
import { HUB_ID, type Packet } from '@gaia-mesh/core/contracts/packet.ts';
import type { Recording } from '@gaia-mesh/core/recording/recording.ts';
import { openMembers } from '@gaia-mesh/core/wire/members.ts';
import { findStage } from '@gaia-mesh/protocols/layers/registry.ts';
import { checkSpec, loadAdapter } from '@gaia-mesh/protocols/registry.ts';

/** A packet as bytes, and what they are for. */
interface WrittenPacket {
  readonly blob: Uint8Array;
  readonly line: LedgerLine;
}

/** Writes a run's packets again, as its adapter does. */
export interface PacketWriter {
  /** Spec that writes the bytes: the run's adapter, or the part of it that needs no keys. */
  readonly spec: string;
  /** The bytes follow from the packet alone, so they are those of the run. */
  readonly isExact: boolean;
  /** Why they are not, for people. */
  readonly caveat: string | null;
  /** @throws MeshError where the adapter refuses the packet */
  write(packet: Packet): WrittenPacket;
}

/** A writer of the run's packets, or why there is none: somebody's own adapter is not among those of this program. */
export async function createPacketWriter(recording: Recording): Promise<PacketWriter | string> {
  try {
    return await openWriter(recording);
  } catch (error) {
    if (error instanceof MeshError) return toErrorMessage(error);
    throw error;
  }
}

/**
 * A run's keys end with it. Layers that sign or encrypt are therefore left out, with all that is around them; an adapter that
 * itself has keys writes with new ones.
 */
async function openWriter({ header }: Recording): Promise<PacketWriter> {
  const { adapter: name, layers } = checkSpec(header.adapter);
  const keyed = layers.findIndex((layer) => ['sign', 'encrypt'].includes(findStage(layer)));
  const spec = [name, ...(keyed < 0 ? layers : layers.slice(0, keyed))].join('+');
  const adapter = await loadAdapter(spec);
  const hasKeys = hasMemberKeys(await loadAdapter(name));
  const agents = header.agents.map(({ id }) => id);
  const codecs = openMembers(adapter, header.run_id, agents);
  return {
    spec,
    isExact: keyed < 0 && !hasKeys,
    caveat: describeCaveat(spec, layers.slice(keyed < 0 ? layers.length : keyed), hasKeys),
    write(packet) {
      const codec = codecs.get(packet.from);
      if (codec === undefined) throw new MeshError('packet', `${packet.from} is no agent of the run`);
      const blob = codec.encode(packet);
      return { blob, line: measureLine(codec, packet, blob.length, codec.layerBytes?.last) };
    },
  };
}

/** An adapter whose members make keys offers something else every time. */
function hasMemberKeys(adapter: ProtocolAdapter): boolean {
  const offer = () => adapter.join?.({ runId: 'run', self: HUB_ID }).offer;
  return !isDeepStrictEqual(offer(), offer());
}

function describeCaveat(spec: string, left: readonly string[], hasKeys: boolean): string | null {
  const parts = [
    ...(left.length === 0
      ? []
      : [
          `The run also had ${left.join(' and ')} around these bytes, whose keys ended with it; shown is ${spec} below that.`,
        ]),
    ...(hasKeys
      ? [
          `The keys of ${spec} ended with the run: these bytes have new ones, so identities, signatures and ciphertext differ from the run's.`,
        ]
      : []),
  ];
  return parts.length === 0 ? null : parts.join(' ');
}
