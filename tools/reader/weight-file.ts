import { readFileSync } from 'node:fs';

// First bytes of every file of trained numbers: "GMRW", kind (4 ASCII letters), version and body length (uint32, LE).
const MAGIC = 'GMRW';
const HEADER_BYTES = 16;

/**
 * Reads a weight file and returns its body.
 *
 * @throws when the file is not of `kind` at `version` or is cut short
 */
export function readWeightFile(url: URL, kind: string, version: number): Uint8Array {
  const bytes = readFileSync(url);
  const where = url.pathname;
  if (bytes.length < HEADER_BYTES || bytes.toString('latin1', 0, 4) !== MAGIC) {
    throw new Error(`${where}: expected a reader weight file, got ${bytes.length} bytes without its mark`);
  }
  const foundKind = bytes.toString('latin1', 4, 8);
  const foundVersion = bytes.readUInt32LE(8);
  if (foundKind !== kind || foundVersion !== version) {
    throw new Error(
      `${where}: expected ${kind} version ${version}, got ${foundKind} version ${foundVersion}`,
    );
  }
  const bodyBytes = bytes.readUInt32LE(12);
  if (bytes.length !== HEADER_BYTES + bodyBytes) {
    throw new Error(
      `${where}: expected ${bodyBytes} bytes after the header, got ${bytes.length - HEADER_BYTES}`,
    );
  }
  // The copy aligns 2- and 4-byte views of the body.
  return Uint8Array.from(bytes.subarray(HEADER_BYTES));
}

export function packWeightFile(kind: string, version: number, body: Uint8Array): Uint8Array {
  const bytes = Buffer.alloc(HEADER_BYTES + body.length);
  bytes.write(MAGIC + kind, 0, 'latin1');
  bytes.writeUInt32LE(version, 8);
  bytes.writeUInt32LE(body.length, 12);
  bytes.set(body, HEADER_BYTES);
  return bytes;
}

/** Packs weights of which most are 0: for each other one, the gap to the one before (LEB128) and the weight. */
export function packSparse(weights: Int8Array): Uint8Array {
  const bytes: number[] = [];
  let previous = -1;
  for (const [id, weight] of weights.entries()) {
    if (weight === 0) continue;
    let gap = id - previous;
    for (; gap >= 128; gap >>>= 7) bytes.push((gap & 127) | 128);
    bytes.push(gap, weight & 255);
    previous = id;
  }
  return Uint8Array.from(bytes);
}

/** Calls `visit` with each weight of {@link packSparse} that is not 0. */
export function readSparse(bytes: Uint8Array, visit: (id: number, weight: number) => void): void {
  let id = -1;
  for (let at = 0; at < bytes.length; ) {
    let gap = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] ?? 0;
      gap |= (byte & 127) << shift;
      if (byte < 128) break;
    }
    id += gap;
    visit(id, ((bytes[at++] ?? 0) << 24) >> 24);
  }
}
