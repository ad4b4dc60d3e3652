import { describe, test } from 'vitest';
import type { Stack } from '../contract/stack.ts';
import { listStackChecks } from '../contract/suite.ts';
import { createSelfSigned } from '../self-signed.ts';

const identity = await createSelfSigned();
if (identity === null) {
  if (process.env.CI === 'true') throw new Error('there is no openssl command');
  console.warn('skipped: stacks over TLS, as there is no openssl command to make a certificate');
}

/** Runs the contract of stacks, or the checks of it whose names match. */
export function testStack(stack: Stack, wanted: RegExp = /./): void {
  describe(`contract of ${stack.name} (${stack.implementation})`, () => {
    for (const { name, run } of listStackChecks(stack, identity)) if (wanted.test(name)) test(name, run);
  });
}
