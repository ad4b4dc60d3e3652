import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_FRAME_BYTES } from '@gaia-mesh/core/contracts/limits.ts';

/** A frame in hexadecimal; as a packet in JSON it is shorter. */
const MAX_LINE_BYTES = 2 * MAX_FRAME_BYTES;

export interface InputLine {
  /** From 1. */
  readonly number: number;
  readonly bytes: Buffer;
}

/**
 * The lines of `input` that are not empty. They end at a line feed and nowhere else: `node:readline` also ends them at U+2028,
 * which JSON texts may hold.
 */
export async function* readInputLines(input: AsyncIterable<Buffer>): AsyncGenerator<InputLine> {
  let number = 0;
  let begun: Buffer[] = [];
  let begunBytes = 0;
  for await (const chunk of input) {
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, start)) {
      begun.push(chunk.subarray(start, end));
      start = end + 1;
      number += 1;
      yield* keepFilled({ number, bytes: Buffer.concat(begun) });
      begun = [];
      begunBytes = 0;
    }
    begun.push(chunk.subarray(start));
    begunBytes += chunk.length - start;
    if (begunBytes > MAX_LINE_BYTES) {
      throw new MeshError('usage', `line ${number + 1}: longer than ${MAX_LINE_BYTES} bytes`);
    }
  }
  yield* keepFilled({ number: number + 1, bytes: Buffer.concat(begun) });
}

function* keepFilled(line: InputLine): Generator<InputLine> {
  if (line.bytes.some((byte) => byte > 0x20)) yield line;
}
