import { expect, test } from 'vitest';
import { volume } from './volume.ts';

// A packet in ten thousand, or a byte in a thousand packets, is found here for certain: each case has at least twelve thousand.
test('of thousands of packets none is lost, none overtakes another, and each byte is counted once', async () => {
  const failure = await volume.fuzz({ seed: Date.now() % 2 ** 31, runs: 6 });
  expect(failure).toBeNull();
});
