import { createLayerError, type Layer, type LayerCodec } from './layer.ts';

/**
 * CRC-32C (Castagnoli, RFC 3720) behind the bytes, least significant byte first. It finds accidents and stops
 * no forger.
 */
export const crc32c: Layer = {
  name: 'crc32c',
  open: () => codec,
};

const CRC_BYTES = 4;

const codec: LayerCodec = {
  overheadBytes: CRC_BYTES,
  seal(bytes) {
    const sealed = Buffer.allocUnsafe(bytes.length + CRC_BYTES);
    sealed.set(bytes);
    sealed.writeUInt32LE(computeCrc(bytes), bytes.length);
    return sealed;
  },
  unseal(bytes) {
    const length = bytes.length - CRC_BYTES;
    if (length < 0) throw createLayerError('crc32c', `${bytes.length} bytes are too few for a checksum`);
    const inner = bytes.subarray(0, length);
    if (computeCrc(inner) !== readWord(bytes, length) >>> 0)
      throw createLayerError('crc32c', 'the checksum does not match the bytes');
    return { bytes: inner };
  },
};

/** The polynomial, lowest bit first; `zlib.crc32` has another one. */
const POLYNOMIAL = 0x82f63b78;

/** Eight tables of 256 entries: `tables[256 * k + b]` is the effect of byte b with k bytes behind it. */
const tables = makeTables();

/**
 * Returns the CRC-32C of `bytes` as an unsigned number. Eight bytes a step are about four times as fast as
 * one by one.
 */
function computeCrc(bytes: Uint8Array): number {
  const table = (index: number): number => tables[index] ?? 0;
  let crc = -1;
  let i = 0;
  for (; i + 8 <= bytes.length; i += 8) {
    const low = crc ^ readWord(bytes, i);
    const high = readWord(bytes, i + 4);
    crc =
      table(0x700 | (low & 0xff)) ^
      table(0x600 | ((low >>> 8) & 0xff)) ^
      table(0x500 | ((low >>> 16) & 0xff)) ^
      table(0x400 | (low >>> 24)) ^
      table(0x300 | (high & 0xff)) ^
      table(0x200 | ((high >>> 8) & 0xff)) ^
      table(0x100 | ((high >>> 16) & 0xff)) ^
      table(high >>> 24);
  }
  for (; i < bytes.length; i++) crc = (crc >>> 8) ^ table((crc ^ (bytes[i] ?? 0)) & 0xff);
  return ~crc >>> 0;
}

function readWord(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] ?? 0) |
    ((bytes[at + 1] ?? 0) << 8) |
    ((bytes[at + 2] ?? 0) << 16) |
    ((bytes[at + 3] ?? 0) << 24)
  );
}

function makeTables(): Int32Array {
  const made = new Int32Array(8 * 256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
    made[byte] = crc;
  }
  for (let index = 256; index < made.length; index++) {
    const before = made[index - 256] ?? 0;
    made[index] = (before >>> 8) ^ (made[before & 0xff] ?? 0);
  }
  return made;
}
