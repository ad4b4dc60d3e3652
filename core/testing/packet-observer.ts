import type { AuthorizedPacket } from '../hub/batch.ts';
import type { MeshObserver } from '../hub/mesh-observer.ts';

/** Reports relayed packets one by one. */
export function onPackets(
  tell: (packet: Pick<AuthorizedPacket, 'head' | 'frameBytes'> & { readonly recipients: number }) => void,
): Pick<MeshObserver, 'relayed'> {
  return {
    relayed({ packets, recipients }) {
      for (const { head, frameBytes } of packets) tell({ head, frameBytes, recipients: recipients.length });
    },
  };
}
