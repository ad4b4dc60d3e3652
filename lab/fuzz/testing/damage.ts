import fc from 'fast-check';

/**
 * Damage to bytes on their way to a decoder. Positions are taken modulo the length, so one damage fits every
 * blob.
 */
export type Damage =
  | { readonly kind: 'flip'; readonly at: number; readonly bit: number }
  | { readonly kind: 'cut'; readonly at: number }
  | { readonly kind: 'drop'; readonly at: number; readonly length: number }
  | { readonly kind: 'insert'; readonly at: number; readonly bytes: Uint8Array }
  | { readonly kind: 'overwrite'; readonly at: number; readonly bytes: Uint8Array }
  /** Insertion behind the nth occurrence of a structural byte. */
  | { readonly kind: 'behind'; readonly byte: number; readonly nth: number; readonly bytes: Uint8Array }
  | { readonly kind: 'repeat'; readonly from: number; readonly length: number; readonly at: number }
  /** The beginning of this blob and the end of another. */
  | { readonly kind: 'splice'; readonly at: number; readonly otherAt: number }
  | { readonly kind: 'replace'; readonly bytes: Uint8Array };

/**
 * Input that decoders stumble over: members of JSON objects; other pieces of text; tokens of MessagePack,
 * CBOR, protobuf, compressed streams.
 */
const members = [
  '"__proto__":{"a":1},',
  '"type":"x",',
  '"payload":{},',
  '"to":"hub",',
  '"extra":null,',
  '"a":1e999,',
  '"a":-0,',
  '"a":"\\ud800",',
  '"\\udc00":[],',
].map((text) => Buffer.from(text));
const textPieces = [
  '\\u005f_proto__',
  '\\ud800',
  '-0',
  '1e999',
  '9007199254740993',
  '00',
  'null',
  '[[[[{"":{',
  '}"',
  '\\',
  ' ',
  '\n',
  '\n  a: 1',
  '[2]{a,b}:',
  '- ',
  '\ufeff',
  '\0',
].map((text) => Buffer.from(text));
const binaryPieces = [
  'ff',
  'c0',
  'c1',
  'c4ff',
  'd4',
  'd6ff',
  'db ffffffff',
  'dd ffffffff',
  'df ffffffff',
  'cb 7ff8000000000000',
  'cf ffffffffffffffff',
  '7b ffffffffffffffff',
  '9b 00000000ffffffff',
  'bb 00000000ffffffff',
  '9f',
  'bf',
  'f97e00',
  'fb fff0000000000000',
  'd9df01',
  'ffffffffffffffffff01',
  '0a00',
  'a9 5f5f70726f746f5f5f',
  '69 5f5f70726f746f5f5f',
  'eda080',
  'c080',
  'f4908080',
  '28b52ffd',
  '789c',
].map((hex) => Buffer.from(hex.replaceAll(' ', ''), 'hex'));

const place = fc.nat(100_000);
const structureByte = fc.constantFrom(...Buffer.from('{[,:"\n'));

export const bytes = fc.uint8Array({ maxLength: 40 });
const piece = fc.oneof(fc.constantFrom(...textPieces), fc.constantFrom(...binaryPieces), bytes);

const damage: fc.Arbitrary<Damage> = fc.oneof(
  fc.record({ kind: fc.constant('flip'), at: place, bit: fc.nat(7) }),
  fc.record({ kind: fc.constant('cut'), at: place }),
  fc.record({ kind: fc.constant('drop'), at: place, length: fc.integer({ min: 1, max: 40 }) }),
  fc.record({ kind: fc.constant('insert'), at: place, bytes: piece }),
  fc.record({ kind: fc.constant('overwrite'), at: place, bytes: piece }),
  fc.record({ kind: fc.constant('behind'), byte: structureByte, nth: fc.nat(60), bytes: piece }),
  fc.record({
    kind: fc.constant('behind'),
    byte: fc.constant(0x7b),
    nth: fc.nat(60),
    bytes: fc.constantFrom(...members),
  }),
  fc.record({
    kind: fc.constant('repeat'),
    from: place,
    length: fc.integer({ min: 1, max: 60 }),
    at: place,
  }),
  fc.record({ kind: fc.constant('splice'), at: place, otherAt: place }),
  fc.record({ kind: fc.constant('replace'), bytes: fc.uint8Array({ maxLength: 200 }) }),
);

export const damages = fc.array(damage, { minLength: 1, maxLength: 4 });

/** Applies all of `list` to a copy of `blob`. */
export function applyDamages(blob: Uint8Array, other: Uint8Array, list: readonly Damage[]): Buffer {
  return list.reduce((bytes, one) => applyDamage(bytes, other, one), Buffer.from(blob));
}

function applyDamage(blob: Buffer, other: Uint8Array, one: Damage): Buffer<ArrayBuffer> {
  const within = (at: number) => at % (blob.length + 1);
  const replaced = (at: number, cut: number, put: Uint8Array) =>
    Buffer.concat([blob.subarray(0, at), put, blob.subarray(at + cut)]);
  switch (one.kind) {
    case 'flip':
      return replaced(within(one.at), 1, Buffer.of((blob[within(one.at)] ?? 0) ^ (1 << one.bit)));
    case 'cut':
      return replaced(within(one.at), blob.length, Buffer.alloc(0));
    case 'drop':
      return replaced(within(one.at), one.length, Buffer.alloc(0));
    case 'insert':
      return replaced(within(one.at), 0, one.bytes);
    case 'overwrite':
      return replaced(within(one.at), one.bytes.length, one.bytes);
    case 'behind':
      return replaced(findPlaceBehind(blob, one.byte, one.nth), 0, one.bytes);
    case 'repeat': {
      const from = within(one.from);
      return replaced(within(one.at), 0, blob.subarray(from, from + one.length));
    }
    case 'splice':
      return replaced(within(one.at), blob.length, other.subarray(one.otherAt % (other.length + 1)));
    case 'replace':
      return Buffer.from(one.bytes);
  }
}

function findPlaceBehind(blob: Buffer, byte: number, nth: number): number {
  const places: number[] = [];
  for (let at = blob.indexOf(byte); at !== -1 && places.length <= nth; at = blob.indexOf(byte, at + 1)) {
    places.push(at + 1);
  }
  return places[nth % places.length] ?? 0;
}
