import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { a2aGrpcSdk } from '../a2a/sdk/grpc.ts';
import { a2aJsonRpcSdk } from '../a2a/sdk/stacks.ts';
import type { Stack } from '../contract/stack.ts';
import { listStackChecks } from '../contract/suite.ts';
import { mcpHttpSdk } from '../mcp/sdk/stacks.ts';
import { loadMcpStdioSdk } from '../mcp/stdio/stacks.ts';
import { describePeer, type Language } from './installation.ts';
import { createSdkStack } from './language-stack.ts';

/** Returns whether the peer of a language is installed. Go's takes a minute to build, so CI does without it. */
function findInstalled(language: Language): boolean {
  const { mark, install } = describePeer(language);
  if (existsSync(mark)) return true;
  const why = `the peer in ${language} is not installed: ${install}`;
  if (process.env.CI === 'true' && language === 'python') throw new Error(why);
  console.warn(`skipped: ${why}`);
  return false;
}

const isThere = { python: findInstalled('python'), go: findInstalled('go') };

const ALL = /./;
/** The checks of what two languages must agree on: packets, failures and bytes. */
const AGREEMENT = /^(packets arrive|work that fails|every byte is|a proxy between)/;
/** Over pipes each check starts processes of Python. */
const PIPES = /^(packets arrive|work that fails|an exchange ends at|every byte is)/;
/** Python takes seconds for samples of many megabytes, so one stack alone has them. */
const FEW_BYTES = 40_000;

function testLanguages(language: Language, ends: string, stack: Stack, wanted: RegExp): void {
  const isSmall = stack.protocol !== 'mcp' || wanted !== ALL;
  const traits = isSmall ? { ...stack.traits, largestMessageBytes: FEW_BYTES } : stack.traits;
  describe.skipIf(!isThere[language])(`${stack.name}, ${ends}`, () => {
    for (const { name, run } of listStackChecks({ ...stack, traits }, null))
      if (wanted.test(name)) test(name, { timeout: 60_000 }, run);
  });
}

/** All stacks take minutes: one with Python is tested always, and the others, also with Go, before a release. */
const isRelease = process.env.GAIA_MESH_RELEASE === 'true';

const mcpStdioSdk = await loadMcpStdioSdk();

const PYTHON = [
  [createSdkStack('mcp/http', 'python'), mcpHttpSdk, isRelease ? ALL : AGREEMENT, AGREEMENT],
  [createSdkStack('mcp/stdio', 'python'), mcpStdioSdk, PIPES, PIPES],
  [createSdkStack('a2a/jsonrpc', 'python'), a2aJsonRpcSdk, ALL, AGREEMENT],
  [createSdkStack('a2a/grpc', 'python'), a2aGrpcSdk, ALL, AGREEMENT],
] as const;

for (const [python, sdk, wanted, mixed] of isRelease ? PYTHON : PYTHON.slice(0, 1)) {
  testLanguages('python', 'Python at both ends', python, wanted);
  testLanguages('python', 'JavaScript asks Python', { ...python, connect: sdk.connect }, mixed);
  testLanguages('python', 'Python asks JavaScript', { ...python, serve: sdk.serve }, mixed);
}

// With Nagle's algorithm on, replies of Python waited 40 ms, which its SDK seemed to cost. No time is measured here.
test.skipIf(!isThere.python)('a server in Python sends at once what it writes', () => {
  const asked = [
    'import asyncio, socket',
    'from http_server import listen',
    'async def main():',
    '    listening, port = listen()',
    '    seen = asyncio.get_running_loop().create_future()',
    '    option = lambda _, writer: seen.set_result(',
    "        writer.get_extra_info('socket').getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)",
    '    )',
    '    async with await asyncio.start_server(option, sock=listening):',
    "        await asyncio.open_connection('127.0.0.1', port)",
    '        print(await seen)',
    'asyncio.run(main())',
  ].join('\n');
  const { command } = describePeer('python');
  const cwd = new URL('./python/', import.meta.url);
  expect(execFileSync(command, ['-B', '-c', asked], { cwd, encoding: 'utf8' })).toBe('1\n');
});

const GO = [
  [createSdkStack('mcp/http', 'go'), mcpHttpSdk],
  [createSdkStack('mcp/stdio', 'go'), mcpStdioSdk],
  [createSdkStack('a2a/jsonrpc', 'go'), a2aJsonRpcSdk],
  [createSdkStack('a2a/grpc', 'go'), a2aGrpcSdk],
] as const;

for (const [go, sdk] of isRelease ? GO : []) {
  // Go's HTTP may dial a second connection while the first is being given back, so that connections differ from run to run.
  testLanguages('go', 'Go at both ends', go, /^(?!bytes are the same)/);
  testLanguages('go', 'JavaScript asks Go', { ...go, connect: sdk.connect }, AGREEMENT);
  testLanguages('go', 'Go asks JavaScript', { ...go, serve: sdk.serve }, AGREEMENT);
}
