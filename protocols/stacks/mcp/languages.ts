import { fileURLToPath } from 'node:url';
import type { Stack } from '../contract/stack.ts';
import type { Language } from '../languages/installation.ts';
import { createLanguageStack } from '../languages/language-stack.ts';
import { MCP_PATH } from './revision.ts';
import { createPacketTool, describeTool, mcpHttpTraits } from './tools.ts';

/**
 * MCP with the SDK of another language at both ends. TLS is not supported: the bytes of these ends are counted between
 * them, where encrypted messages cannot be recognized.
 */
export function createMcpLanguage(transport: 'http' | 'stdio', language: Language): Stack {
  return createLanguageStack(language, {
    name: `mcp/${transport}`,
    protocol: 'mcp',
    transport: transport === 'http' ? 'http1' : 'stdio',
    traits: { ...mcpHttpTraits, hasTls: false },
    carrier: transport === 'http' ? 'http1' : 'pipes',
    modules: {
      python: fileURLToPath(new URL(`./python/mcp_${transport}.py`, import.meta.url)),
      go: `mcp/${transport}`,
    },
    addressOf: (port) => `http://127.0.0.1:${port}${MCP_PATH}`,
    describe: () => ({ tool: describeTool(createPacketTool(async () => [])) }),
  });
}
