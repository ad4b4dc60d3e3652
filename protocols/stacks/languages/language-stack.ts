import { spawn } from 'node:child_process';
import { once } from 'node:events';
import net, { type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_FRAME_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import { HEAD_LENGTHS, parsePacket } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import { meshCard } from '../a2a/packets.ts';
import {
  type Inbox,
  SESSION_TIMEOUT_MS,
  type Stack,
  type StackClient,
  type StackServer,
  type StackSettings,
} from '../contract/stack.ts';
import { ControlChannel, processCountsSchema, type Question } from '../control-channel.ts';
import { listenInPrivate } from '../listen.ts';
import { MCP_PATH } from '../mcp/revision.ts';
import { serveInChildren } from '../mcp/stdio/served-child.ts';
import { createPacketTool, describeTool } from '../mcp/tools.ts';
import { findPeer, type Language } from './installation.ts';
import { openWireRelay } from './wire-relay.ts';

/** The ends of a stack by the SDK of another language. TLS is not supported, as encrypted messages cannot be recognized. */
interface LanguageEnds extends Pick<Stack, 'protocol' | 'transport' | 'traits'> {
  /** The carrier of its messages; over pipes, clients start the server. */
  readonly carrier: 'http1' | 'http2' | 'pipes';
  /** Scheme of the address of a server on a port. */
  readonly scheme: 'http' | 'grpc';
  readonly path: string;
  /** Returns what the two ends need in addition to the settings: the tool, the card. */
  describe(): object;
}

const A2A = { protocol: 'a2a', path: '', describe: () => ({ card: meshCard }) } as const;
/** Maximum nesting of JSON in protobuf, whose limit of a hundred levels counts each level three times. */
const A2A_TRAITS = { oneWay: 'acknowledged', hasTls: false, deepestPayload: 30 } as const;
const MCP = {
  protocol: 'mcp',
  scheme: 'http',
  path: MCP_PATH,
  traits: { oneWay: 'acknowledged', hasTls: false },
  describe: () => ({ tool: describeTool(createPacketTool(async () => [])) }),
} as const;

const ENDS = {
  'a2a/jsonrpc': { ...A2A, transport: 'http1', carrier: 'http1', scheme: 'http', traits: A2A_TRAITS },
  'a2a/grpc': {
    ...A2A,
    transport: 'grpc',
    carrier: 'http2',
    scheme: 'grpc',
    // A channel of gRPC has one connection, which stays.
    traits: { ...A2A_TRAITS, fixed: ['connections', 'keepAliveMs'] },
  },
  'mcp/http': { ...MCP, transport: 'http1', carrier: 'http1' },
  'mcp/stdio': { ...MCP, transport: 'stdio', carrier: 'pipes' },
} as const satisfies Readonly<Record<string, LanguageEnds>>;

const servedSchema = z.object({ port: z.int() });
const repliesSchema = z.array(z.unknown());

/**
 * Creates a stack with the SDK of another language at both ends. Each process of ours has one process of that
 * language.
 */
export function createSdkStack(name: keyof typeof ENDS, language: Language): Stack {
  const { protocol, transport, traits, carrier, scheme, path, describe }: LanguageEnds = ENDS[name];
  const purpose = `the stack ${name} in ${language}`;
  // The module of Python, and the name in Go.
  const module = language === 'go' ? name : findModule(`../${protocol}/python/${name.replace('/', '_')}.py`);
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
      address: `${scheme}://127.0.0.1:${advertisedPort ?? port}${path}`,
      port: relayPort ?? port,
      wire: () => relay?.meter.bytes ?? null,
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
    let planned: readonly object[] | undefined;
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
  return {
    name,
    protocol,
    transport,
    implementation: language,
    // The task store of a2a-go 2.2 copies by `gob`, which knows no difference between none and empty.
    traits: { ...traits, losesEmptyLists: protocol === 'a2a' && language === 'go' },
    serve,
    connect,
  };
}

/** Resolves a file of the package. */
function findModule(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}

async function countProcess(peer: LanguageProcess) {
  return processCountsSchema.parse(await peer.ask({ do: 'count' }));
}

const packetQuestion = z.looseObject({ session: z.int(), packet: z.unknown() });

/**
 * A process in another language that runs servers and clients of stacks. There is one for each language: a measured
 * process has a single server or client, to which its CPU time and memory belong.
 */
class LanguageProcess {
  readonly #channel: ControlChannel;
  readonly #inboxes = new Map<number, Inbox>();
  readonly #socket: Socket;
  #sessions = 0;
  #open = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.#channel = new ControlChannel(socket, async (question, signal) => {
      const { session, packet } = packetQuestion.parse(question);
      const inbox = this.#inboxes.get(session);
      if (inbox === undefined) throw new MeshError('agent', 'its server is closed');
      return inbox(parsePacket(packet), signal);
    });
  }

  /** Returns the running process of a language, or starts it. */
  static async of(language: Language, purpose: string): Promise<LanguageProcess> {
    const known = await processes.get(language)?.catch(() => undefined);
    if (known?.isOpen === true) return known;
    const started = LanguageProcess.#start(language, purpose);
    processes.set(language, started);
    return started;
  }

  static async #start(language: Language, purpose: string): Promise<LanguageProcess> {
    const { command, args } = findPeer(language, purpose);
    const server = net.createServer();
    const { file, remove } = await listenInPrivate(server);
    // It ends with the socket, however this process ends.
    const child = spawn(command, [...args, file], { stdio: ['ignore', 'ignore', 'inherit'] });
    try {
      const ended = new AbortController();
      child.once('error', (error) => ended.abort(error));
      child.once('exit', () =>
        ended.abort(new MeshError('agent', `${purpose}: its process ended at its start`)),
      );
      const [socket]: Socket[] = await once(server, 'connection', { signal: ended.signal });
      if (socket === undefined) throw new Error('no connection');
      child.unref();
      socket.unref();
      return new LanguageProcess(socket);
    } catch (error) {
      throw error instanceof Error && error.cause instanceof Error ? error.cause : error;
    } finally {
      server.close();
      remove();
    }
  }

  get isOpen(): boolean {
    return this.#channel.isOpen;
  }

  /** Opens a server or a client, which `ask` with its session refers to. */
  async open(question: Question, inbox?: Inbox): Promise<{ session: number; value: unknown }> {
    this.#sessions += 1;
    const session = this.#sessions;
    if (inbox !== undefined) this.#inboxes.set(session, inbox);
    try {
      return { session, value: await this.ask({ ...question, session }) };
    } catch (error) {
      this.#inboxes.delete(session);
      throw error;
    }
  }

  /** @throws MeshError `agent` if the process fails at it; the reason of `signal` if it is aborted */
  async ask(question: Question, signal?: AbortSignal): Promise<unknown> {
    // Only questions keep this process alive.
    if (this.#open === 0) this.#socket.ref();
    this.#open += 1;
    try {
      return await this.#channel.ask(question, signal);
    } finally {
      this.#open -= 1;
      if (this.#open === 0) this.#socket.unref();
    }
  }

  async close(session: number): Promise<void> {
    if (this.isOpen) await this.ask({ do: 'close', session });
    this.#inboxes.delete(session);
  }
}

const processes = new Map<Language, Promise<LanguageProcess>>();
