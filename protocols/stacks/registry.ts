import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { createUnknownError } from '@gaia-mesh/core/contracts/registry.ts';
import { withPackage } from '@gaia-mesh/core/system/optional-package.ts';
import { checkSpec } from '@gaia-mesh/protocols/registry.ts';
import type { Stack } from './contract/stack.ts';
import { findPeer, type Language } from './languages/installation.ts';

/** A stack that ships with the project; its code is loaded on demand. */
export interface StackEntry extends Pick<Stack, 'name' | 'implementation'> {
  /** @throws MeshError `config` with the package to install if one is missing */
  load(): Promise<Stack>;
  /** The npm packages that it needs, as `npm install` takes them. */
  readonly packages?: readonly string[];
}

const MESH = 'mesh/';

const A2A_SDK = ['@a2a-js/sdk@1', 'express@5'];
const A2A_GRPC = ['@a2a-js/sdk@1', '@grpc/grpc-js@1'];
const MCP_STDIO = ['@modelcontextprotocol/client@2', '@modelcontextprotocol/server@2'];
const MCP_SDK = [
  '@modelcontextprotocol/client@2',
  '@modelcontextprotocol/server@2',
  '@modelcontextprotocol/node@2',
];

/** All stacks with a name of their own; in addition, every adapter is one, as `mesh/<adapter>`. */
const stackEntries: readonly StackEntry[] = [
  createEntry('json/unix', 'bare', [], async () => (await import('./plain/framed.ts')).jsonUnix),
  createEntry('json/http1', 'bare', [], async () => (await import('./plain/json-http1.ts')).jsonHttp1),
  createEntry(
    'json/websocket',
    'sdk',
    ['ws@8'],
    async () => (await import('./plain/json-websocket.ts')).jsonWebSocket,
  ),
  createEntry(
    'json/grpc',
    'sdk',
    ['@grpc/grpc-js@1'],
    async () => (await import('./plain/json-grpc.ts')).jsonGrpc,
  ),
  createEntry('a2a/jsonrpc', 'sdk', A2A_SDK, async () => (await import('./a2a/sdk/stacks.ts')).a2aJsonRpcSdk),
  createEntry('a2a/jsonrpc', 'bare', [], async () => (await import('./a2a/bare/stacks.ts')).a2aJsonRpcBare),
  createEntry('a2a/rest', 'sdk', A2A_SDK, async () => (await import('./a2a/sdk/stacks.ts')).a2aRestSdk),
  createEntry('a2a/grpc', 'sdk', A2A_GRPC, async () => (await import('./a2a/sdk/grpc.ts')).a2aGrpcSdk),
  createEntry('mcp/stdio', 'sdk', MCP_STDIO, async () =>
    (await import('./mcp/stdio/stacks.ts')).loadMcpStdioSdk(),
  ),
  createEntry('mcp/stdio', 'bare', [], async () => (await import('./mcp/stdio/stacks.ts')).mcpStdioBare),
  createEntry('mcp/http', 'sdk', MCP_SDK, async () => (await import('./mcp/sdk/stacks.ts')).mcpHttpSdk),
  createEntry('mcp/http', 'bare', [], async () => (await import('./mcp/bare/stacks.ts')).mcpHttpBare),
  ...(['python', 'go'] as const).flatMap(listLanguageEntries),
];

/**
 * Returns the stacks of a name, one for each implementation: `mesh/msgpack+zstd`, `a2a/jsonrpc`.
 *
 * @throws MeshError `usage` for an unknown name; the message lists the known ones
 */
export function findStackEntries(name: string): readonly StackEntry[] {
  if (name.startsWith(MESH)) {
    const spec = name.slice(MESH.length);
    checkSpec(spec);
    return [
      createEntry(name, 'bare', [], async () => (await import('./plain/framed.ts')).makeMeshStack(spec)),
    ];
  }
  const found = stackEntries.filter((each) => each.name === name);
  if (found.length === 0) throw createUnknownError('stack', name, [...listStackNames(), `${MESH}<adapter>`]);
  return found;
}

/** Returns every name once, whatever its number of implementations. */
export function listStackNames(): readonly string[] {
  return [...new Set(stackEntries.map(({ name }) => name))];
}

/** @throws MeshError `usage` for an unknown stack, `config` with the package to install if one is missing */
export async function loadStack(name: string, implementation: Stack['implementation']): Promise<Stack> {
  const entries = findStackEntries(name);
  const found = entries.find((each) => each.implementation === implementation);
  if (found === undefined) {
    const known = entries.map((each) => each.implementation).join(' and ');
    throw new MeshError(
      'usage',
      `stack ${name}: expected implementation ${known}, received ${implementation}`,
    );
  }
  return found.load();
}

/** Lists the stacks whose ends are in another language. Their packages are not npm's and are looked for on loading. */
function listLanguageEntries(language: Language): readonly StackEntry[] {
  return (['a2a/jsonrpc', 'a2a/grpc', 'mcp/http', 'mcp/stdio'] as const).map((name) => ({
    name,
    implementation: language,
    async load() {
      findPeer(language, `--stacks ${name} --implementation ${language}`);
      return (await import('./languages/language-stack.ts')).createSdkStack(name, language);
    },
  }));
}

/** @param packages npm packages that the installed package leaves out, as `npm install` takes them */
function createEntry(
  name: string,
  implementation: Stack['implementation'],
  packages: readonly string[],
  load: () => Promise<Stack>,
): StackEntry {
  return {
    name,
    implementation,
    packages,
    load: () =>
      withPackage(packages.join(' '), `--stacks ${name}`, () => {
        // The stack loads its packages when it opens; a missing one must be reported before anything is measured.
        for (const spec of packages) import.meta.resolve(spec.replace(/(?<=.)@.*$/, ''));
        return load();
      }),
  };
}
