import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { Random } from '@gaia-mesh/core/system/random.ts';
import { drawBelow, drawPacket } from './random.ts';
import { assertRefused, assertSound, type ContractRun } from './run.ts';
import { fullPacket } from './samples.ts';

export function checkTruncation(run: ContractRun, packet: Packet): void {
  const blob = Buffer.from(run.encode(packet));
  for (let length = 0; length < blob.length; length++)
    assertRefused(run, blob.subarray(0, length), `${length} of ${blob.length} bytes`);
}

export function checkTrailingBytes(run: ContractRun, packet: Packet): void {
  const blob = run.encode(packet);
  const tails = [Buffer.of(0), Buffer.of(0x7d), Buffer.of(0xc0), Buffer.of(0xff), Buffer.from('x'), blob];
  for (const tail of tails) {
    const what = `${tail.length} bytes from 0x${tail[0]?.toString(16)} behind it`;
    assertRefused(run, Buffer.concat([blob, tail]), what);
  }
}

export function checkBitFlips(run: ContractRun): void {
  const blob = Buffer.from(run.encode(fullPacket));
  for (let bit = 0; bit < blob.length * 8; bit++) {
    const flipped = Buffer.from(blob);
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    assertSound(run, flipped, `bit ${bit & 7} of byte ${bit >> 3} flipped`);
  }
}

/** Blobs that a check draws; `npm run fuzz` draws as many as there is time for. */
const DRAWS = 400;

export function checkRandomBytes(run: ContractRun): void {
  const random = new Random(2);
  const valid = run.encode(fullPacket);
  for (let i = 0; i < DRAWS; i++) {
    const bytes = drawBytes(random, 200);
    assertSound(run, bytes, `random blob ${i}`);
    // Decoders refuse most random bytes at the first one; behind a valid beginning they read further.
    const start = drawBelow(random, valid.length);
    assertSound(
      run,
      Buffer.concat([valid.subarray(0, start), bytes]),
      `random blob ${i} behind ${start} good bytes`,
    );
  }
}

/**
 * Checks blobs with a few bytes removed and a few others inserted in up to three places: pieces of the
 * format, of the blob itself, or any bytes.
 */
export function checkDamage(run: ContractRun, pieces: readonly Buffer[]): void {
  const random = new Random(5);
  for (let i = 0; i < DRAWS; i++) {
    let blob = Buffer.from(run.encode(drawPacket(random)));
    for (let damages = drawBelow(random, 3); damages >= 0; damages--) {
      const at = drawBelow(random, blob.length);
      const put = pickPiece(blob, pieces, random);
      blob = Buffer.concat([blob.subarray(0, at), put, blob.subarray(at + drawBelow(random, 4))]);
    }
    assertSound(run, blob, `damaged packet ${i} (${blob.toString('hex', 0, 1000)})`);
  }
}

function pickPiece(blob: Buffer, pieces: readonly Buffer[], random: Random): Buffer {
  const piece = pieces[drawBelow(random, 2 * pieces.length)];
  if (piece !== undefined) return piece;
  if (random.uniform() < 0.5) return drawBytes(random, 4);
  const start = drawBelow(random, blob.length);
  return blob.subarray(start, start + drawBelow(random, 12));
}

/** A length at which a search from the start at every byte takes minutes. */
const LONG = 1 << 17;

/** Checks the time for the same bytes repeated at the start, where a payload is expected, and within one. */
export function checkTime(run: ContractRun, pieces: readonly Buffer[]): void {
  const blob = Buffer.from(run.encode(fullPacket));
  const text = blob.indexOf('né ✅');
  const ends = new Set([
    0,
    1,
    2,
    9,
    Math.floor(blob.length / 2),
    blob.length - 1,
    ...(text > 9 ? [text, text - 1, text - 9] : []),
  ]);
  const repeated = [
    ...pieces,
    Buffer.of(0),
    Buffer.of(0xff),
    ...[1, 2, 3].map((length) => blob.subarray(0, length)),
  ];
  for (const piece of repeated.filter(({ length }) => length > 0)) {
    const many = Buffer.alloc(piece.length * Math.floor(LONG / piece.length), piece);
    for (const end of ends) {
      const bytes = Buffer.concat([blob.subarray(0, end), many]);
      assertSound(run, bytes, `0x${piece.toString('hex')} again and again behind ${end} bytes`);
    }
  }
}

function drawBytes(random: Random, maxLength: number): Buffer {
  return Buffer.from(Array.from({ length: drawBelow(random, maxLength) }, () => drawBelow(random, 256)));
}
