/** Returns buffers of one byte each. */
export function tokens(...bytes: readonly number[]): readonly Uint8Array[] {
  return bytes.map((byte) => Buffer.of(byte));
}

/**
 * Returns the blob with lists of one item each in place of the text `§deep`, the last of them empty.
 *
 * @param written the bytes that begin that text, a list of one item and an empty list
 */
export function nestedLists(
  blob: Buffer,
  [text, list, empty]: readonly [number, number, number],
  depth: number,
): Buffer {
  const mark = Buffer.concat([Buffer.of(text), Buffer.from('§deep')]);
  const at = blob.indexOf(mark);
  if (at === -1) throw new Error('no text §deep');
  const lists = Buffer.alloc(depth, list).fill(empty, depth - 1);
  return Buffer.concat([blob.subarray(0, at), lists, blob.subarray(at + mark.length)]);
}
