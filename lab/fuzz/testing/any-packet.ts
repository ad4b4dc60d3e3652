import { type Packet, parsePacket } from '@gaia-mesh/core/contracts/packet.ts';
import fc from 'fast-check';

/** Senders and recipients of the packets: members of the run, since signing adapters write for no others. */
export const MEMBERS = ['a', 'b-2'] as const;

const text = fc.oneof(
  fc.constantFrom(
    'triples',
    'doc_init',
    'mesh.books',
    'final_answer',
    'constructor',
    '__proto__',
    '"',
    '\ufeff',
  ),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 32 }),
);
const count = fc.oneof(fc.nat(300), fc.maxSafeNat(), fc.constantFrom(2 ** 31, 2 ** 32, 2 ** 53 - 1));

/** Texts around the lengths at which formats switch to a longer header, and layers begin to compress. */
const longText = fc
  .tuple(
    fc.constantFrom('x', 'é', '😀', '{"', '\\'),
    fc.constantFrom(15, 16, 23, 24, 31, 32, 127, 128, 255, 256, 1023, 1024, 4000),
  )
  .map(([unit, length]) => unit.repeat(length));

const value = fc.oneof(
  { weight: 4, arbitrary: fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' }) },
  { weight: 1, arbitrary: longText },
  { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
);

const payload = fc
  .dictionary(fc.string({ unit: 'binary', maxLength: 12 }), value, { maxKeys: 6 })
  .map((made) => JSON.stringify(made))
  // No packet may contain the key.
  .filter((json) => !json.includes('"__proto__":'))
  .map((json) => JSON.parse(json));

/** Valid packets. */
export const anyPacket: fc.Arbitrary<Packet> = fc
  .record(
    {
      type: text,
      from: fc.constantFrom(...MEMBERS),
      to: fc.constantFrom(...MEMBERS, 'hub'),
      id: text,
      reply_to: text,
      task_id: text,
      tag: text,
      token_used: count,
      log_uri: fc.string({ unit: 'binary', maxLength: 32 }),
      ts: count,
      payload,
    },
    { requiredKeys: ['type', 'from', 'id', 'task_id', 'token_used', 'ts', 'payload'], noNullPrototype: true },
  )
  .map(parsePacket);
