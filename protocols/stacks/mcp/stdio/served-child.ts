import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import net, { type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { SETTLE_TIMEOUT_MS } from '@gaia-mesh/core/contracts/limits.ts';
import { parsePacket, shortenReason } from '@gaia-mesh/core/contracts/packet.ts';
import type { Inbox, StackServer, StackSettings, WireBytes } from '../../contract/stack.ts';
import { NO_BYTES, sumWireBytes } from '../../contract/wire-sum.ts';
import { WireMeter } from '../../meter/wire-meter.ts';
import { fromChildSchema, type Report, receiveControl, sendControl } from './control.ts';

interface Child {
  readonly socket: Socket;
  report: Report;
  /** Resolves with the child's next report. */
  waiting: PromiseWithResolvers<void> | undefined;
  readonly calls: Map<number, AbortController>;
}

const NO_REPORT: Report = {
  say: 'report',
  wire: NO_BYTES,
  packets: 0,
  refused: 0,
  cpuUs: { user: 0, system: 0 },
  rssBytes: 0,
  heapBytes: 0,
};

/**
 * Serves MCP over stdio, where a client starts its server: the client starts a process in which the server
 * reads its own pipes, with an inbox that it loads by itself if the inbox has a source. This process sends it
 * instructions and asks for its counts. Packets pass through here only for inboxes that exist in this process
 * alone.
 */
export async function serveInChildren(
  implementation: 'sdk' | 'bare',
  inbox: Inbox,
  { results }: Pick<StackSettings, 'results'>,
): Promise<StackServer> {
  const file = path.join(os.tmpdir(), `gaia-mesh-${randomUUID().slice(0, 8)}.sock`);
  const children = new Set<Child>();
  const server = net.createServer((socket) => {
    const child: Child = { socket, report: NO_REPORT, waiting: undefined, calls: new Map() };
    children.add(child);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => child.waiting?.resolve());
    sendControl(socket, { say: 'serve', implementation, results, source: inbox.source ?? null });
    serveChild(child, inbox).catch((error: unknown) => socket.destroy(asError(error)));
  });
  // Node reports sockets to the context that listens; these are not the stack's, so no meter must count them.
  WireMeter.exit(() => server.listen(file));
  await once(server, 'listening');
  const reports = () => [...children].map(({ report }) => report);
  return {
    address: JSON.stringify({ command: process.execPath, args: [CHILD, file] }),
    wire: () => sumWireBytes(reports().map((report): WireBytes => report.wire)),
    async ask(collect) {
      await Promise.all([...children].map((child) => askChild(child, collect)));
      // Processes that have ended keep no memory, but their bytes and packets still count.
      const sum = (of: (report: Report) => number) =>
        reports().reduce((total, report) => total + of(report), 0);
      return {
        packets: sum(({ packets }) => packets),
        refused: sum(({ refused }) => refused),
        cpuUs: { user: sum(({ cpuUs }) => cpuUs.user), system: sum(({ cpuUs }) => cpuUs.system) },
        rssBytes: sum(({ rssBytes }) => rssBytes),
        heapBytes: sum(({ heapBytes }) => heapBytes),
      };
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const { socket } of children) socket.destroy();
      await closed;
      await rm(file, { force: true });
    },
  };
}

const CHILD = fileURLToPath(new URL('./stdio-process.ts', import.meta.url));

async function askChild(child: Child, collect: boolean): Promise<void> {
  if (child.socket.destroyed) return;
  const waiting = Promise.withResolvers<void>();
  child.waiting = waiting;
  sendControl(child.socket, { say: 'ask', collect });
  const timer = setTimeout(
    () => waiting.reject(new MeshError('agent', 'mcp/stdio: a server process did not report its counts')),
    SETTLE_TIMEOUT_MS,
  );
  await waiting.promise.finally(() => clearTimeout(timer));
}

async function serveChild(child: Child, inbox: Inbox): Promise<void> {
  for await (const message of receiveControl(child.socket, fromChildSchema)) {
    if (message.say === 'report') {
      child.report = message;
      child.waiting?.resolve();
    } else if (message.say === 'abort') {
      child.calls.get(message.call)?.abort();
    } else {
      void answer(child, message.call, message.packet, inbox);
    }
  }
  for (const abort of child.calls.values()) abort.abort();
  child.report = { ...child.report, rssBytes: 0, heapBytes: 0 };
}

async function answer({ socket, calls }: Child, call: number, packet: unknown, inbox: Inbox): Promise<void> {
  const abort = new AbortController();
  calls.set(call, abort);
  try {
    const replies = await inbox(parsePacket(packet), abort.signal);
    sendControl(socket, { say: 'answered', call, replies: [...replies] });
  } catch (error) {
    sendControl(socket, { say: 'failed', call, reason: shortenReason(toErrorMessage(error)) });
  } finally {
    calls.delete(call);
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(toErrorMessage(error));
}
