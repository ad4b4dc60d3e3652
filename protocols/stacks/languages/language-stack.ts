import { MAX_FRAME_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import { HEAD_LENGTHS, parsePacket } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import type {
  Inbox,
  OwnProcesses,
  RemoteLoad,
  Stack,
  StackClient,
  StackServer,
  StackSettings,
} from '../contract/stack.ts';
import { processCountsSchema } from '../control-channel.ts';
import { serveInChildren } from '../mcp/stdio/served-child.ts';
import { findPeer, type Language } from './installation.ts';
import { LanguageProcess } from './language-process.ts';
import { openWireRelay } from './wire-relay.ts';

/** A stack whose two ends are written in another language. */
interface LanguageStack extends Omit<Stack, 'implementation' | 'serve' | 'connect'> {
  /** The carrier of its messages; over pipes, clients start the server. */
  readonly carrier: 'http1' | 'http2' | 'pipes';
  /** The two ends in each language: a module of Python, a name in Go. */
  readonly modules: Readonly<Record<Language, string>>;
  /** Returns the address of a server on a port. */
  addressOf(port: number): string;
  /** Returns what the two ends have to know beside the settings: the tool, the card. */
  describe(): object;
}

/** Time in which a session is set up, however short an exchange may be. */
const SESSION_TIMEOUT_MS = 10_000;

const servedSchema = z.object({ port: z.int() });
const repliesSchema = z.array(z.unknown());

/** Makes a stack of two ends in `language`, which are in one process of that language for each process of ours. */
export function createLanguageStack(language: Language, own: LanguageStack): Stack {
  const { carrier, modules, addressOf, describe, ...stack } = own;
  const purpose = `the stack ${stack.name} in ${language}`;
  const module = modules[language];
  const complete = (settings: StackSettings) => ({
    ...settings,
    ...describe(),
    advertisedPort: null,
    largestBytes: MAX_FRAME_BYTES,
    sessionMs: Math.max(settings.deadlineMs, SESSION_TIMEOUT_MS),
  });
  const serve = async (inbox: Inbox, settings: StackSettings): Promise<StackServer> => {
    const question = { do: 'serve', module, settings: complete(settings), plan: inbox.source?.data ?? null };
    if (carrier === 'pipes')
      return serveInChildren(findPeer(language, purpose), { ...question, session: 0 }, inbox);
    const peer = await LanguageProcess.of(language, purpose);
    const relay = settings.countsBytes === false ? undefined : await openWireRelay(carrier);
    const relayPort = relay?.forwarder.port;
    const advertisedPort = settings.advertisedPort ?? relayPort ?? null;
    const { session, value } = await peer.open(
      { ...question, settings: { ...question.settings, advertisedPort } },
      inbox,
    );
    const { port } = servedSchema.parse(value);
    relay?.forwarder.forwardTo(port);
    return {
      address: addressOf(advertisedPort ?? port),
      port: relayPort ?? port,
      wire: () => relay?.count() ?? null,
      ask: () => countProcess(peer),
      async close() {
        await peer.close(session);
        await relay?.forwarder.close();
      },
    };
  };
  const connect = async (address: string, settings: StackSettings): Promise<StackClient> => {
    const peer = await LanguageProcess.of(language, purpose);
    const { session } = await peer.open({ do: 'connect', module, settings: complete(settings), address });
    let planned: RemoteLoad['exchanges'] | undefined;
    return {
      async exchange(packet, signal) {
        const replies = await peer.ask({ do: 'exchange', session, packet }, signal);
        return repliesSchema.parse(replies).map(parsePacket);
      },
      wire: () => null,
      ask: () => countProcess(peer),
      async play({ exchanges, ...load }) {
        if (exchanges !== planned) await peer.ask({ do: 'plan', session, exchanges });
        planned = exchanges;
        return peer.ask({ do: 'play', session, ...load, task_length: HEAD_LENGTHS.task_id });
      },
      close: () => peer.close(session),
    };
  };
  return { ...stack, implementation: language, serve, connect };
}

async function countProcess(peer: LanguageProcess): Promise<OwnProcesses> {
  return processCountsSchema.parse(await peer.ask({ do: 'count' }));
}
