import type { MeshNode } from '../hub/link.ts';
import type { MeshObserver } from '../hub/mesh-observer.ts';
import { Sampled } from '../system/sampled.ts';
import type { NewRunEvent } from './run-event.ts';

interface MeshListeners extends Pick<MeshObserver, 'relayed'> {
  readonly emit: (event: NewRunEvent) => void;
  readonly onLost: (node: MeshNode, reason: string) => void;
}

/**
 * Creates the observer of a mesh that turns its calls into events, with refusals sampled. Relayed packets are
 * too many for that, and are passed on in their batches; so is an agent's loss, whose cause may be known later.
 */
export function createMeshObserver({ emit, relayed, onLost }: MeshListeners): MeshObserver {
  const refusals = new Sampled();
  return {
    relayed,
    broadcast({ payload: _payload, ...envelope }, { beganUs, encodeUs, forwardedUs }, bytes, recipients) {
      emit({
        event: 'broadcast',
        ...envelope,
        bytes,
        recipients,
        began_us: Math.round(beganUs),
        encode_us: Math.round(encodeUs),
        forwarded_us: Math.round(forwardedUs),
      });
    },
    refused(from, reason, bytes) {
      const leftOut = refusals.next();
      if (leftOut === undefined) return;
      emit({ event: 'refused', from, reason, bytes, left_out: leftOut > 0 ? leftOut : undefined });
    },
    agentLost: onLost,
  };
}
