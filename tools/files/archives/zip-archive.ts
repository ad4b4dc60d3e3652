import { crc32, inflateRawSync } from 'node:zlib';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { FILE_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { type LoadedFile, quoteFileName } from '../loaded-file.ts';
import { decodeText } from '../text-encoding.ts';

export interface ZipMember {
  readonly name: string;
  /** The archive's statement; reading measures the real size. */
  readonly statedBytes: number;
  readonly isFolder: boolean;
  readonly isEncrypted: boolean;
  /** True when the name is relative and stays inside the archive's folder. */
  readonly isSafe: boolean;
  /**
   * Unpacks the member.
   *
   * @throws MeshError `tool` for a member that is encrypted, unsafe, damaged or too large
   */
  read(): Uint8Array<ArrayBuffer>;
}

// APPNOTE.TXT 6.3.10: end of central directory (4.3.16), central file header (4.3.12), local file header (4.3.7).
const END = { signature: 0x06054b50, bytes: 22 };
const CENTRAL = { signature: 0x02014b50, bytes: 46 };
const LOCAL = { signature: 0x04034b50, bytes: 30 };
const MAX_COMMENT_BYTES = 0xffff;

/**
 * Opens a ZIP archive by its central directory and returns its members. Each is unpacked only when it is read, within
 * the bounds; libraries would unpack whatever the archive declares.
 *
 * @throws MeshError `tool` for other files, and for ZIP64, archives of several volumes and too many members
 */
export function openZip({ name, bytes }: LoadedFile): ZipMember[] {
  const fail = (why: string): never => {
    throw new MeshError(
      'tool',
      `${quoteFileName(name)} (${bytes.length} bytes) cannot be read as a ZIP archive: ${why}`,
    );
  };
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end =
    findArchiveEnd(view) ?? fail('it has no directory at its end, so it is something else or was cut off');
  const count = view.getUint16(end + 10, true);
  const directoryBytes = view.getUint32(end + 12, true);
  if (count === 0xffff || directoryBytes === 0xffffffff)
    fail('it is in the ZIP64 format, for archives of more than 4 GB');
  if (view.getUint16(end + 8, true) !== count) fail('it is one of several volumes');
  if (count > FILE_LIMITS.members) fail(`it has ${count} members: up to ${FILE_LIMITS.members} are read`);
  // Bytes before the archive (a program that unpacks itself) shift all offsets.
  const start = end - directoryBytes;
  const shift = start - view.getUint32(end + 16, true);
  if (start < 0 || shift < 0) fail('its directory lies outside of it');

  const members: ZipMember[] = [];
  let budget = FILE_LIMITS.unpackedBytes;
  let at = start;
  for (let i = 0; i < count; i++) {
    if (at + CENTRAL.bytes > end || view.getUint32(at, true) !== CENTRAL.signature)
      fail(`its directory ends after ${i} of ${count} members`);
    const header = at;
    const nameBytes = view.getUint16(at + 28, true);
    at += CENTRAL.bytes + nameBytes + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
    if (at > end) fail(`its directory ends within member ${i + 1} of ${count}`);
    const nameStart = header + CENTRAL.bytes;
    const memberName = decodeMemberName(bytes.subarray(nameStart, nameStart + nameBytes));
    const failMember = (why: string): never => {
      throw new MeshError('tool', `${quoteFileName(memberName)} of ${quoteFileName(name)} ${why}`);
    };
    const member = {
      name: memberName,
      statedBytes: view.getUint32(header + 24, true),
      isFolder: memberName.endsWith('/'),
      isEncrypted: (view.getUint16(header + 8, true) & 1) === 1,
      isSafe: isSafeName(memberName),
    };
    const read = () => {
      if (!member.isSafe) failMember('has a name that leads outside of the archive: it is not read');
      if (member.isFolder) failMember('is a folder');
      if (member.isEncrypted) failMember('is encrypted: it can only be read with its password');
      const packed =
        readPackedBytes(
          bytes,
          view,
          view.getUint32(header + 42, true) + shift,
          view.getUint32(header + 20, true),
        ) ?? failMember('lies outside of the archive, which is damaged');
      const limit = Math.min(FILE_LIMITS.bytes, budget);
      const content = unpackMember(packed, view.getUint16(header + 10, true), limit, failMember);
      budget -= content.length;
      if (crc32(content) !== view.getUint32(header + 16, true))
        failMember('is damaged: its checksum is wrong');
      return content;
    };
    members.push({ ...member, read });
  }
  return members;
}

/**
 * Unpacks every member once, so that a library without bounds is given only archives that keep them.
 *
 * @throws MeshError `tool`
 */
export function checkZip(file: LoadedFile): void {
  for (const member of openZip(file)) if (!member.isFolder) member.read();
}

function unpackMember(
  packed: Uint8Array<ArrayBuffer>,
  method: number,
  limit: number,
  fail: (why: string) => never,
): Uint8Array<ArrayBuffer> {
  const tooLarge = () =>
    fail(
      `unpacks to more than ${limit} bytes: up to ${FILE_LIMITS.bytes} of a member and ${FILE_LIMITS.unpackedBytes} of all are read`,
    );
  switch (method) {
    case 0:
      return packed.length > limit ? tooLarge() : packed;
    case 8:
      try {
        return new Uint8Array(inflateRawSync(packed, { maxOutputLength: limit }));
      } catch (error) {
        if (error instanceof RangeError) return tooLarge();
        return fail('is damaged: it cannot be unpacked');
      }
    default:
      return fail(`is packed by method ${method}: stored and deflated members are read`);
  }
}

/** Returns the packed bytes behind the local header at `at`; undefined when they lie outside of the archive. */
function readPackedBytes(
  bytes: Uint8Array<ArrayBuffer>,
  view: DataView,
  at: number,
  packedBytes: number,
): Uint8Array<ArrayBuffer> | undefined {
  if (at + LOCAL.bytes > bytes.length || view.getUint32(at, true) !== LOCAL.signature) return undefined;
  const start = at + LOCAL.bytes + view.getUint16(at + 26, true) + view.getUint16(at + 28, true);
  return start + packedBytes > bytes.length ? undefined : bytes.subarray(start, start + packedBytes);
}

function findArchiveEnd(view: DataView): number | undefined {
  const last = view.byteLength - END.bytes;
  for (let at = last; at >= Math.max(0, last - MAX_COMMENT_BYTES); at--) {
    if (view.getUint32(at, true) === END.signature) return at;
  }
  return undefined;
}

/**
 * Decodes UTF-8 whether its flag is set or not, since many writers forget it; other names as Latin-1, so that every
 * member has a name.
 */
function decodeMemberName(bytes: Uint8Array): string {
  return decodeText(bytes)?.text ?? Buffer.from(bytes).toString('latin1');
}

function isSafeName(name: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern refuses control characters
  const isOdd = name === '' || /^[/\\]|^[A-Za-z]:|[\0-\x1f\x7f]/.test(name);
  return !isOdd && !name.split(/[/\\]/).includes('..');
}
