import { writeSync } from 'node:fs';

const PRINT_ATTEMPTS = 1_000_000;

/** Waits until it is written: what is printed keeps its order, and takes no memory here. */
export function print(text: string | Uint8Array): void {
  let rest = Buffer.from(text);
  for (let attempt = 0; rest.length > 0 && attempt < PRINT_ATTEMPTS; attempt++) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      // A full pipe, where it does not wait by itself.
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error;
    }
  }
}
