import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_FRAME_BYTES } from '@gaia-mesh/core/contracts/limits.ts';

const NEWLINE = 0x0a;

/**
 * Yields the messages of stdio (basic/transports): one line of JSON each.
 *
 * @throws MeshError `limit` for a line that is longer than `most`, by default the largest packet
 */
export async function* readJsonLines(
  readable: AsyncIterable<unknown>,
  most = MAX_FRAME_BYTES,
): AsyncGenerator<string, void, undefined> {
  let begun: Buffer[] = [];
  let length = 0;
  for await (const chunk of readable) {
    if (!Buffer.isBuffer(chunk)) throw new Error('pipes carry bytes');
    let rest = chunk;
    for (let at = rest.indexOf(NEWLINE); at !== -1; at = rest.indexOf(NEWLINE)) {
      checkLength(length + at, most);
      yield Buffer.concat([...begun, rest.subarray(0, at)]).toString();
      begun = [];
      length = 0;
      rest = rest.subarray(at + 1);
    }
    if (rest.length > 0) begun.push(rest);
    length += rest.length;
    checkLength(length, most);
  }
}

function checkLength(length: number, most: number): void {
  if (length > most) throw new MeshError('limit', `stdio line: expected at most ${most} bytes`);
}
