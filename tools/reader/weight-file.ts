import { readFileSync } from 'node:fs';

// Every file of trained numbers starts with: "GMRW", kind (4 ASCII letters), version and body length (uint32, LE).
const MAGIC = 'GMRW';
const HEADER_BYTES = 16;

/** Reads a weight file and returns its body; throws when it is not `kind` at `version` or is cut short. */
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
  // A copy, so that 2- and 4-byte views of the body are aligned.
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
