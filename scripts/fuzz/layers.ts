import fc from 'fast-check';
import type { JsonValue } from '../../core/packet.ts';
import type { LayerCodec, LayerMembership } from '../../protocols/layers/layer.ts';
import { layerNamed, stageOf } from '../../protocols/layers/registry.ts';
import { damaged, damages } from './damage.ts';
import { attempt, Fault, type FuzzTarget, fuzzTarget } from './target.ts';

/** What is sealed: noise, and what compresses well, from nothing to more than any layer stores as it is. */
const content = fc.oneof(
  fc.uint8Array({ maxLength: 300 }),
  fc.uint8Array({ minLength: 1000, maxLength: 1100 }),
  fc
    .tuple(fc.uint8Array({ minLength: 1, maxLength: 20 }), fc.nat(400))
    .map(([piece, times]) => Buffer.concat(Array.from({ length: times }, () => piece))),
);

const cases = fc.record({ bytes: content, other: content, damages });

/**
 * Any bytes come out as they went in. Damaged ones are refused with the code `packet`; or come out as others, where the layer
 * only compresses, and those come out as they went in again.
 */
export function layerTarget(layerName: string): FuzzTarget {
  return fuzzTarget(`layer:${layerName}`, cases, async () => {
    const layer = await layerNamed(layerName);
    const join = (self: string) => layer.join?.({ runId: 'fuzz', self });
    const codecOf = (self: string, member: LayerMembership | undefined, offers: Map<string, JsonValue>) =>
      (member ?? layer).open({ runId: 'fuzz', self, peer: 'hub', linkKey: key, runKey: key, offers });
    return ({ bytes, other, damages: list }) => {
      const [a, b] = [join('a'), join('b')];
      const offers = new Map<string, JsonValue>();
      if (a !== undefined) offers.set('a', a.offer);
      if (b !== undefined) offers.set('b', b.offer);
      const [first, second] = [codecOf('a', a, offers), codecOf('b', b, offers)];
      const sealed = first.seal(bytes);
      const otherSealed = second.seal(other);
      if (sealed.length > bytes.length + first.overheadBytes) {
        throw new Fault(`${bytes.length} bytes have become ${sealed.length}`, sealed);
      }
      const hit = damaged(sealed, otherSealed, list);
      const isWhole = hit.equals(sealed) || hit.equals(otherSealed);
      const opened = attempt('unseal', hit, () => second.unseal(hit));
      attempt('skim', hit, () => second.skim?.(hit));
      if (opened !== undefined && !isWhole) {
        const again = first.seal(Buffer.from(opened.bytes));
        const isProtected = stageOf(layerName) !== 'compress';
        if (isProtected && !hit.equals(again)) throw new Fault('damage went unseen', hit);
        expectComesOut(first, again, opened.bytes);
      }
      expectComesOut(second, sealed, bytes);
      expectComesOut(first, otherSealed, other);
    };
  });
}

const key = new Uint8Array(32).fill(7);

function expectComesOut(codec: LayerCodec, sealed: Uint8Array, bytes: Uint8Array): void {
  for (const [what, unseal] of [
    ['unseal', codec.unseal],
    ['skim', codec.skim ?? codec.unseal],
  ] as const) {
    const opened = attempt(what, sealed, () => unseal.call(codec, sealed));
    if (opened === undefined || Buffer.compare(opened.bytes, bytes) !== 0) {
      throw new Fault(`${what}: other bytes come out than went in`, sealed);
    }
  }
}
