import { existsSync } from 'node:fs';
import { describe, test } from 'vitest';
import { createA2aLanguage } from '../a2a/languages.ts';
import { a2aGrpcSdk } from '../a2a/sdk/grpc.ts';
import { a2aJsonRpcSdk } from '../a2a/sdk/stacks.ts';
import type { Stack } from '../contract/stack.ts';
import { listStackChecks } from '../contract/suite.ts';
import { createMcpLanguage } from '../mcp/languages.ts';
import { mcpHttpSdk } from '../mcp/sdk/stacks.ts';
import { mcpStdioSdk } from '../mcp/stdio/stacks.ts';
import { describePeer } from './installation.ts';

const { mark, install } = describePeer('python');
const isThere = existsSync(mark);
if (!isThere) {
  if (process.env.CI === 'true') throw new Error(`the peer in Python is not installed: ${install}`);
  console.warn(`skipped: stacks in Python, which are not installed: ${install}`);
}

const ALL = /./;
/** The checks of what two languages must agree on: packets, failures and bytes. */
const AGREEMENT = /^(packets arrive|work that fails|every byte is|a proxy between)/;
/** Over pipes each check starts processes of Python. */
const PIPES = /^(packets arrive|work that fails|an exchange ends at|every byte is)/;
/** Python takes seconds for samples of many megabytes, so one stack alone has them; the checks of largest messages go with them. */
const FEW_BYTES = 40_000;

function testLanguages(ends: string, stack: Stack, wanted: RegExp): void {
  const isSmall = wanted !== ALL;
  const traits = isSmall ? { ...stack.traits, largestMessageBytes: FEW_BYTES } : stack.traits;
  describe.skipIf(!isThere)(`${stack.name}, ${ends}`, () => {
    for (const { name, run } of listStackChecks({ ...stack, traits }, null))
      if (wanted.test(name)) test(name, { timeout: 60_000 }, run);
  });
}

for (const [python, sdk, wanted, mixed] of [
  [createMcpLanguage('http', 'python'), mcpHttpSdk, ALL, AGREEMENT],
  [createMcpLanguage('stdio', 'python'), mcpStdioSdk, PIPES, PIPES],
  [createA2aLanguage('jsonrpc', 'python'), a2aJsonRpcSdk, /^(?!the largest)/, AGREEMENT],
  [createA2aLanguage('grpc', 'python'), a2aGrpcSdk, /^(?!the largest)/, AGREEMENT],
] as const) {
  testLanguages('Python at both ends', python, wanted);
  testLanguages('JavaScript asks Python', { ...python, connect: sdk.connect }, mixed);
  testLanguages('Python asks JavaScript', { ...python, serve: sdk.serve }, mixed);
}
