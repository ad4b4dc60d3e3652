import { once } from 'node:events';
import net, { type Socket } from 'node:net';
import { AGENT_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { parsePacket } from '@gaia-mesh/core/contracts/packet.ts';
import type { Inbox, StackServer } from '../../contract/stack.ts';
import { sumWireBytes } from '../../contract/wire-sum.ts';
import {
  ControlChannel,
  type ProcessCounts,
  processCountsSchema,
  type Question,
} from '../../control-channel.ts';
import { listenInPrivate } from '../../listen.ts';
import { WireMeter } from '../../meter/wire-meter.ts';

interface Child {
  readonly channel: ControlChannel;
  counts: ProcessCounts;
}

const NO_COUNTS: ProcessCounts = {
  wire: null,
  packets: 0,
  refused: 0,
  cpuUs: { user: 0, system: 0 },
  rssBytes: 0,
};

/**
 * Serves MCP over stdio, where a client starts its server: the client starts a process in which the server
 * reads its own pipes, with an inbox that it loads by itself if the inbox has a source. This process asks it to
 * serve, and for its counts. Packets pass through here only for inboxes that exist in this process alone.
 *
 * @param program the process that clients start; its last argument will be the control channel's socket
 * @param question the question that asks it to serve
 */
export async function serveInChildren(
  program: { readonly command: string; readonly args: readonly string[] },
  question: Question,
  inbox: Inbox,
): Promise<StackServer> {
  const children = new Set<Child>();
  const server = net.createServer((socket) => children.add(startServing(socket, question, inbox)));
  // Node reports sockets to the context that listens; these are not the stack's, so no meter must count them.
  const { file, remove } = await WireMeter.exit(() => listenInPrivate(server));
  const counts = () => [...children].map((child) => child.counts);
  return {
    address: JSON.stringify({ command: program.command, args: [...program.args, file] }),
    wire: () => sumWireBytes(counts().flatMap(({ wire }) => wire ?? [])),
    async ask() {
      await Promise.all([...children].map(askChild));
      // Processes that have ended keep no memory, but their bytes and packets still count.
      const sum = (of: (own: ProcessCounts) => number) => counts().reduce((total, own) => total + of(own), 0);
      return {
        packets: sum(({ packets }) => packets),
        refused: sum(({ refused }) => refused),
        cpuUs: { user: sum(({ cpuUs }) => cpuUs.user), system: sum(({ cpuUs }) => cpuUs.system) },
        rssBytes: sum(({ rssBytes }) => rssBytes),
      };
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const { channel } of children) channel.close();
      await closed;
      remove();
    },
  };
}

function startServing(socket: Socket, question: Question, inbox: Inbox): Child {
  const child: Child = {
    counts: NO_COUNTS,
    channel: new ControlChannel(socket, async (asked, signal) => {
      if (asked.do === 'packet') return inbox(parsePacket(asked.packet), signal);
      // Its last counts, before it ends.
      child.counts = processCountsSchema.parse(asked.counts);
      return null;
    }),
  };
  // The client sees a server that does not begin.
  child.channel.ask(question).catch(() => child.channel.close());
  void child.channel.ended.then(() => {
    child.counts = { ...child.counts, rssBytes: 0 };
  });
  return child;
}

async function askChild(child: Child): Promise<void> {
  if (!child.channel.isOpen) return;
  const signal = AbortSignal.timeout(AGENT_LIMITS.settleMs);
  const counts = child.channel.ask({ do: 'count' }, signal);
  try {
    child.counts = processCountsSchema.parse(await counts);
  } catch (error) {
    // A process that has ended meanwhile reported its last counts.
    if (child.channel.isOpen) throw error;
  }
}
