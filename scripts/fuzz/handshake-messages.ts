import fc from 'fast-check';
import { frameOf } from '../../core/frame.ts';
import { MAX_HANDSHAKE_FRAME_BYTES } from '../../core/limits.ts';
import { damaged, damages } from './damage.ts';

const nonce = 'ab'.repeat(32);
const said = { wire: 1, node: 'a', tool: 'read', adapter: 'json', auth: 'open', nonce, proof: '' };
const goodMessages = [
  { kind: 'hello', wire: 1, run: 'r', node: 'a', tool: 'read', adapter: 'json', auth: 'open', nonce },
  { kind: 'hello', wire: 1, run: 'r', node: '*', tool: '*', adapter: 'anp', auth: 'hmac', nonce },
  { kind: 'welcome', ...said, subscribes: ['doc_init'], emits: [] },
  { kind: 'welcome', ...said, subscribes: [], emits: ['t'], offer: { json: null } },
  { kind: 'begin', proof: '', max_frame: 1024 },
  { kind: 'begin', proof: 'ab', max_frame: 2 ** 53 - 1, offers: { a: {}, hub: [1] } },
  { kind: 'ready' },
  { kind: 'refuse', message: 'no' },
].map((message) => Buffer.from(JSON.stringify(message)));

const value = fc.oneof(
  fc.jsonValue({ stringUnit: 'binary' }),
  fc.constantFrom(-1, 1e308, '*', '', 'hmac', '../a'),
);
/** A good message with some of its keys set to something else. */
const changedMessage = fc
  .tuple(
    fc.constantFrom(...goodMessages),
    fc.array(
      fc.tuple(
        fc.constantFrom('kind', 'wire', 'node', 'adapter', 'auth', 'offers', 'max_frame', '__proto__', 'x'),
        value,
      ),
      { maxLength: 2 },
    ),
  )
  .map(([good, changes]) =>
    Buffer.from(JSON.stringify({ ...JSON.parse(String(good)), ...Object.fromEntries(changes) })),
  );
const message = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...goodMessages) },
  { weight: 3, arbitrary: changedMessage },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom(...goodMessages), fc.constantFrom(...goodMessages), damages)
      .map(([one, other, list]) => damaged(one, other, list)),
  },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 100 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      Buffer.alloc(MAX_HANDSHAKE_FRAME_BYTES, ' '),
      Buffer.alloc(MAX_HANDSHAKE_FRAME_BYTES + 1, '['),
    ),
  },
);
/** Both parts of a good conversation, but for the proof: whoever takes it for one does not look. */
const conversations = (['open', 'hmac'] as const).flatMap((auth) =>
  [
    [
      { kind: 'hello', wire: 1, run: 'r', node: 'a', tool: 'read', adapter: 'json', auth, nonce },
      { kind: 'begin', proof: '0'.repeat(64), max_frame: 1024 },
    ],
    [{ kind: 'welcome', ...said, auth, proof: '0'.repeat(64), subscribes: [], emits: [] }, { kind: 'ready' }],
  ].map((turns) => turns.map((turn) => frameOf(Buffer.from(JSON.stringify(turn))))),
);

/** What is written at once: frames, or bytes that are none. */
const write = fc.oneof(
  { weight: 5, arbitrary: message.map((blob) => frameOf(blob)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 12 }) },
  { weight: 1, arbitrary: fc.constantFrom('ffffffff', '00040001', '00000000', '80000000').map(fromHex) },
);

/** One after the other, as pieces. */
export const anyWrites: fc.Arbitrary<readonly Uint8Array[]> = fc.oneof(
  { weight: 4, arbitrary: fc.array(write, { maxLength: 4 }) },
  { weight: 1, arbitrary: fc.constantFrom(...conversations) },
);

function fromHex(hex: string): Buffer {
  return Buffer.from(hex, 'hex');
}
