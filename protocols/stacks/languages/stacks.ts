import { fileURLToPath } from 'node:url';
import { meshCard } from '../a2a/packets.ts';
import type { Stack } from '../contract/stack.ts';
import { MCP_PATH } from '../mcp/revision.ts';
import { createPacketTool, describeTool } from '../mcp/tools.ts';
import type { Language } from './installation.ts';
import { createLanguageStack } from './language-stack.ts';

/** Maximum nesting of JSON in protobuf, whose limit of a hundred levels counts each level three times. */
const DEEPEST_PAYLOAD = 30;

/**
 * Creates a stack with the SDK of another language at both ends. TLS is not supported: the bytes of these ends are
 * counted between them, where encrypted messages cannot be recognized.
 */
export function createSdkStack(
  name: 'a2a/jsonrpc' | 'a2a/grpc' | 'mcp/http' | 'mcp/stdio',
  language: Language,
): Stack {
  const file = name.replace('/', '_');
  const a2a = {
    name,
    protocol: 'a2a',
    modules: { python: findModule(`../a2a/python/${file}.py`), go: name },
    describe: () => ({ card: meshCard }),
    traits: {
      oneWay: 'acknowledged' as const,
      hasTls: false,
      deepestPayload: DEEPEST_PAYLOAD,
      // The task store of a2a-go 2.2 copies by `gob`, which knows no difference between none and empty.
      losesEmptyLists: language === 'go',
    },
  };
  const mcp = {
    name,
    protocol: 'mcp',
    modules: { python: findModule(`../mcp/python/${file}.py`), go: name },
    describe: () => ({ tool: describeTool(createPacketTool(async () => [])) }),
    traits: { oneWay: 'acknowledged' as const, hasTls: false },
    addressOf: (port: number) => `http://127.0.0.1:${port}${MCP_PATH}`,
  };
  switch (name) {
    case 'a2a/jsonrpc':
      return createLanguageStack(language, {
        ...a2a,
        transport: 'http1',
        carrier: 'http1',
        addressOf: (port) => `http://127.0.0.1:${port}`,
      });
    case 'a2a/grpc':
      return createLanguageStack(language, {
        ...a2a,
        transport: 'grpc',
        carrier: 'http2',
        // A channel of gRPC has one connection, which stays.
        traits: { ...a2a.traits, fixed: ['connections', 'keepAliveMs'] },
        addressOf: (port) => `grpc://127.0.0.1:${port}`,
      });
    case 'mcp/http':
      return createLanguageStack(language, { ...mcp, transport: 'http1', carrier: 'http1' });
    case 'mcp/stdio':
      return createLanguageStack(language, { ...mcp, transport: 'stdio', carrier: 'pipes' });
  }
}

/** Resolves a file of the package. */
function findModule(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}
