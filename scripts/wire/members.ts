import { hkdfSync } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Codec, Membership, ProtocolAdapter } from '../../core/contracts/adapter.ts';
import { MeshError } from '../../core/contracts/errors.ts';
import { HUB_ID, type JsonValue } from '../../core/contracts/packet.ts';
import { runKeyOf } from '../../core/wire/handshake-keys.ts';
import type { Keys } from './key-file.ts';

/** The members of a run that is only a key file: every call derives the same keys for them from its secret. */
export class Members {
  readonly #adapter: ProtocolAdapter;
  readonly #keys: Keys;
  readonly #members = new Map<string, Membership>();
  readonly #offers = new Map<string, JsonValue>();

  /** @throws MeshError `usage` for an adapter whose members cannot come back */
  constructor(adapter: ProtocolAdapter, keys: Keys) {
    this.#adapter = adapter;
    this.#keys = keys;
    for (const node of new Set([HUB_ID, ...keys.members])) {
      const member = this.#join(node);
      if (member === undefined) return;
      this.#members.set(node, member);
      this.#offers.set(node, member.offer);
    }
    if (isDeepStrictEqual(this.#join(HUB_ID)?.offer, this.#offers.get(HUB_ID))) return;
    throw new MeshError('usage', `${adapter.name} makes new keys each time: they cannot be shared in a file`);
  }

  /**
   * The codec of one node.
   *
   * @throws MeshError `usage` for one that the key file does not name
   */
  open(self: string): Codec {
    const member = this.#members.get(self);
    if (member === undefined && this.#offers.size > 0) {
      throw new MeshError(
        'usage',
        `${self} is no member: the key file names ${[...this.#offers.keys()].join(', ')}`,
      );
    }
    return (member ?? this.#adapter).open({
      runId: this.#keys.run_id,
      self,
      peer: self === HUB_ID ? '*' : HUB_ID,
      linkKey: this.#derive('link'),
      runKey: runKeyOf(this.#keys.secret, this.#keys.run_id),
      offers: this.#offers,
    });
  }

  #join(self: string): Membership | undefined {
    return this.#adapter.join?.({ runId: this.#keys.run_id, self, seed: this.#derive(`member ${self}`) });
  }

  #derive(info: string): Uint8Array {
    const { secret, run_id } = this.#keys;
    return new Uint8Array(
      hkdfSync('sha256', Buffer.from(secret, 'hex'), run_id, `gaia-mesh wire ${info}`, 32),
    );
  }
}
