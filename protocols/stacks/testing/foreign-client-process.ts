import { connectForeign } from '../mcp/foreign/foreign-server.ts';

/**
 * This process connects to the server at the last argument and calls each of its tools once, while MCP's
 * conformance suite watches.
 */
const { signal } = new AbortController();
const place = { url: process.argv.at(-1) ?? '', maxMessageBytes: 1024 * 1024 };
const server = await connectForeign(place, signal);
for (const { name, inputSchema } of server.tools) {
  const { properties = {} } = inputSchema;
  const args = Object.fromEntries(Object.keys(Object(properties)).map((key, index) => [key, index + 2]));
  await server.call(name, args, { signal, timeoutMs: 20_000 });
}
await server.close();
