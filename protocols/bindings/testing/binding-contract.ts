import { describe, test } from 'vitest';
import type { Binding } from '../contract/binding.ts';
import { bindingChecks } from '../contract/suite.ts';
import { selfSigned } from '../tls/self-signed.ts';

const identity = await selfSigned();
if (identity === null) {
  if (process.env.CI === 'true') throw new Error('there is no openssl command');
  console.warn('skipped: bindings over TLS, as there is no openssl command to make a certificate');
}

/** Runs the contract of bindings. */
export function bindingContract(binding: Binding): void {
  describe(`contract of ${binding.name} (${binding.implementation})`, () => {
    for (const { name, run } of bindingChecks(binding, identity)) test(name, run);
  });
}
