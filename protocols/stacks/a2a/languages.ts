import { fileURLToPath } from 'node:url';
import type { Stack } from '../contract/stack.ts';
import type { Language } from '../languages/installation.ts';
import { createLanguageStack } from '../languages/language-stack.ts';
import { a2aTraits, meshCard } from './packets.ts';

/** Maximum nesting of JSON in protobuf, whose limit of a hundred levels counts each level three times. */
const DEEPEST_PAYLOAD = 30;

/** A2A with the SDK of another language at both ends, without TLS, for the reason that `mcp/languages.ts` gives. */
export function createA2aLanguage(binding: 'jsonrpc' | 'grpc', language: Language): Stack {
  const isHttp = binding === 'jsonrpc';
  return createLanguageStack(language, {
    name: `a2a/${binding}`,
    protocol: 'a2a',
    transport: isHttp ? 'http1' : 'grpc',
    traits: {
      ...a2aTraits,
      hasTls: false,
      // A channel of gRPC has one connection, which stays.
      fixed: isHttp ? [] : ['connections', 'keepAliveMs'],
      deepestPayload: DEEPEST_PAYLOAD,
      // The task store of a2a-go 2.2 copies by `gob`, which knows no difference between none and empty.
      losesEmptyLists: language === 'go',
    },
    carrier: isHttp ? 'http1' : 'http2',
    modules: {
      python: fileURLToPath(new URL(`./python/a2a_${binding}.py`, import.meta.url)),
      go: `a2a/${binding}`,
    },
    addressOf: (port) => `${isHttp ? 'http' : 'grpc'}://127.0.0.1:${port}`,
    describe: () => ({ card: meshCard }),
  });
}
