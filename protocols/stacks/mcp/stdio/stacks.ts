import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_MESSAGE_DEPTH } from '@gaia-mesh/core/contracts/limits.ts';
import { parseForeignJson } from '@gaia-mesh/core/system/parse-json.ts';
import { raceAbort } from '@gaia-mesh/core/system/process/abort.ts';
import * as z from 'zod';
import type { Inbox, Stack, StackServer } from '../../contract/stack.ts';
import { meterStack } from '../../meter/metered.ts';
import { connectBare, type McpCaller } from '../bare/client.ts';
import { readJsonLines } from './lines.ts';
import { serveInChildren } from './served-child.ts';

const common = {
  name: 'mcp/stdio',
  protocol: 'mcp',
  transport: 'stdio',
  traits: { oneWay: 'acknowledged', hasTls: false },
} as const;

/** MCP over the pipes of a child, without any package at either end. */
export const mcpStdioBare: Stack = meterStack({
  ...common,
  implementation: 'bare',
  serve: (inbox) => serveOwnChildren('bare', inbox),
  connect: async (address, settings) => connectBare(await startStdioCaller(address), settings),
});

/**
 * Loads MCP over the pipes of a child by its own SDK, which starts the server twice: once to see which revisions it
 * speaks. The client's package is loaded here, so that the time of a set-up does not include it.
 */
export async function loadMcpStdioSdk(): Promise<Stack> {
  const { connectSdk } = await import('../sdk/client.ts');
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  return meterStack({
    ...common,
    implementation: 'sdk',
    serve: (inbox) => serveOwnChildren('sdk', inbox),
    connect(address, settings) {
      const command = commandSchema.parse(JSON.parse(address));
      return connectSdk(new StdioClientTransport({ ...command, stderr: 'inherit' }), settings);
    },
  });
}

const CHILD = fileURLToPath(new URL('./stdio-process.ts', import.meta.url));

function serveOwnChildren(implementation: 'sdk' | 'bare', inbox: Inbox): Promise<StackServer> {
  const program = { command: process.execPath, args: [CHILD] };
  return serveInChildren(program, { do: 'serve', implementation, source: inbox.source ?? null }, inbox);
}

const commandSchema = z.object({ command: z.string(), args: z.array(z.string()) });
const answerSchema = z.looseObject({ id: z.number().optional(), method: z.string().optional() });

/** Starts the server and sends requests over its pipes, several at once; answers find theirs by id. */
async function startStdioCaller(address: string): Promise<McpCaller> {
  const { command, args } = commandSchema.parse(JSON.parse(address));
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  const fail = (cause: unknown) => {
    for (const { reject } of waiting.values())
      reject(new MeshError('agent', `MCP: the server on stdio is gone: ${toErrorMessage(cause)}`, { cause }));
    waiting.clear();
  };
  const read = async () => {
    for await (const line of readJsonLines(child.stdout)) {
      const value: unknown = parseForeignJson(line, { maxDepth: MAX_MESSAGE_DEPTH });
      const { id, method } = answerSchema.parse(value);
      if (method === undefined && id !== undefined) waiting.get(id)?.resolve(value);
    }
    throw new Error('its pipe was closed');
  };
  child.once('error', fail);
  child.stdin.on('error', fail);
  await once(child, 'spawn');
  read().catch(fail);
  return {
    async call(request, signal) {
      signal.throwIfAborted();
      const answer = Promise.withResolvers<unknown>();
      waiting.set(request.id, answer);
      child.stdin.write(`${JSON.stringify(request)}\n`);
      try {
        return await raceAbort(
          signal,
          answer.promise,
          () => new MeshError('agent', `MCP: ${request.method}: ${toErrorMessage(signal.reason)}`),
        );
      } finally {
        waiting.delete(request.id);
      }
    },
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    },
  };
}
