import { spawn } from 'node:child_process';
import { once } from 'node:events';
import net, { type Socket } from 'node:net';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { MAX_FRAME_BYTES } from '@gaia-mesh/core/contracts/limits.ts';
import { HEAD_LENGTHS, parsePacket } from '@gaia-mesh/core/contracts/packet.ts';
import { Forwarder } from '@gaia-mesh/core/transports/tcp/forwarder.ts';
import * as z from 'zod';
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
import { serveInChildren } from '../mcp/stdio/served-child.ts';
import {
  type BodyCounter,
  createBodyCounter,
  detectBodyFormat,
  type MessageCount,
} from '../meter/body-counter.ts';
import { WireMeter } from '../meter/wire-meter.ts';
import { findPeer, type Language } from './installation.ts';

/** A stack whose two ends are written in another language. */
interface LanguageStack extends Omit<Stack, 'implementation' | 'serve' | 'connect'> {
  /** The carrier of its messages; over pipes, clients start the server. */
  readonly carrier: 'http1' | 'http2' | 'pipes';
  /** The two ends in each language: a module of Python, a name in Go. */
  readonly modules: Readonly<Record<Language, string>>;
  /** Returns the address of a server on a port. */
  addressOf(port: number): string;
  /** Returns what the two ends need in addition to the settings: the tool, the card. */
  describe(): object;
}

const servedSchema = z.object({ port: z.int() });
const repliesSchema = z.array(z.unknown());

/** Creates a stack whose ends are written in `language`. Each process of ours has one process of that language. */
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
  return { ...stack, implementation: language, serve, connect };
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

/**
 * Opens a forwarder in front of a server in another language, which counts the bytes of all connections and the
 * messages among them. Times are measured without it.
 */
async function openWireRelay(carrier: 'http1' | 'http2') {
  const meter = new WireMeter();
  const forwarder = await Forwarder.listen((client, server, connect) => {
    connect();
    meter.add(client);
    for (const [from, to, count] of [
      [client, server, meter.in],
      [server, client, meter.out],
    ] as const) {
      from.on('data', createMessageSplitter(carrier, count));
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroy());
    }
  });
  return { forwarder, meter };
}

/** Finds the messages among the bytes of one direction of a connection, given in pieces as they pass. */
type MessageSplitter = (chunk: Buffer) => void;

/** @param carrier protocol that carries the messages; over HTTP/2 they are those of gRPC */
function createMessageSplitter(carrier: 'http1' | 'http2', count: MessageCount): MessageSplitter {
  const splitter = carrier === 'http1' ? new Http1Splitter(count) : new GrpcSplitter(count);
  return (chunk) => splitter.push(chunk);
}

const NEWLINE = 0x0a;
/** Maximum bytes of a line of a head; a longer one is none. */
const MAX_LINE_BYTES = 64 * 1024;

/** Splits requests or responses of HTTP/1.1, whose bodies have a length or come in chunks (RFC 9112). */
class Http1Splitter {
  readonly #count: MessageCount;
  #expected: 'head' | 'size' | 'gap' | 'trailer' = 'head';
  #line = '';
  #fields: string[] = [];
  #body: BodyCounter | undefined;
  /** Bytes of the body, or of its chunk, that are still to come. */
  #left = 0;

  constructor(count: MessageCount) {
    this.#count = count;
  }

  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) {
      if (this.#left > 0) {
        const taken = Math.min(this.#left, chunk.length - at);
        this.#body?.(chunk.subarray(at, at + taken));
        this.#left -= taken;
        at += taken;
        continue;
      }
      const newline = chunk.indexOf(NEWLINE, at);
      const end = newline === -1 ? chunk.length : newline + 1;
      this.#line += chunk.toString('latin1', at, end);
      at = end;
      if (this.#line.length > MAX_LINE_BYTES) throw new Error('the relay expected a head of HTTP/1.1');
      if (newline === -1) return;
      this.#read(this.#line.trimEnd());
      this.#line = '';
    }
  }

  #read(line: string): void {
    switch (this.#expected) {
      case 'head':
        if (line !== '') this.#fields.push(line);
        else this.#beginBody();
        break;
      case 'size':
        this.#left = Number.parseInt(line, 16);
        this.#expected = this.#left > 0 ? 'gap' : 'trailer';
        break;
      case 'gap':
        this.#expected = 'size';
        break;
      case 'trailer':
        if (line === '') this.#expected = 'head';
    }
  }

  #beginBody(): void {
    const [, ...fields] = this.#fields;
    this.#fields = [];
    const find = (name: string) => fields.find((field) => field.toLowerCase().startsWith(`${name}:`));
    const read = (name: string) =>
      find(name)
        ?.slice(name.length + 1)
        .trim();
    this.#body = createBodyCounter(detectBodyFormat(read('content-type')), this.#count);
    if (read('transfer-encoding') !== undefined) this.#expected = 'size';
    else this.#left = Number(read('content-length') ?? 0);
  }
}

const PREFACE_BYTES = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'.length;
const PREFACE_BEGIN = 'P'.charCodeAt(0);
const FRAME_HEAD_BYTES = 9;
const DATA = 0;
const RST_STREAM = 3;
const END_STREAM = 0x01;
const PADDED = 0x08;

/** Splits the messages of gRPC on HTTP/2, which are in DATA frames (RFC 9113), one sequence for each stream. */
class GrpcSplitter {
  readonly #count: MessageCount;
  readonly #streams = new Map<number, BodyCounter>();
  #held: Buffer = Buffer.alloc(0);
  #isBegun = false;

  constructor(count: MessageCount) {
    this.#count = count;
  }

  push(chunk: Buffer): void {
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    // A client begins with a preface, which no frame looks like: its length would be 5 MiB.
    if (!this.#isBegun && this.#held[0] === PREFACE_BEGIN) {
      if (this.#held.length < PREFACE_BYTES) return;
      this.#held = this.#held.subarray(PREFACE_BYTES);
    }
    this.#isBegun = true;
    for (;;) {
      if (this.#held.length < FRAME_HEAD_BYTES) return;
      const length = this.#held.readUIntBE(0, 3);
      if (this.#held.length < FRAME_HEAD_BYTES + length) return;
      const [type, flags] = [this.#held.readUInt8(3), this.#held.readUInt8(4)];
      const stream = this.#held.readUInt32BE(5) & 0x7fffffff;
      const content = this.#held.subarray(FRAME_HEAD_BYTES, FRAME_HEAD_BYTES + length);
      this.#held = this.#held.subarray(FRAME_HEAD_BYTES + length);
      if (type === DATA) this.#readData(stream, flags, content);
      if (type === RST_STREAM || (type === DATA && (flags & END_STREAM) !== 0)) this.#streams.delete(stream);
    }
  }

  #readData(stream: number, flags: number, content: Buffer): void {
    const padding = (flags & PADDED) === 0 ? undefined : (content[0] ?? 0);
    const counter = this.#streams.get(stream) ?? createBodyCounter('grpc', this.#count);
    this.#streams.set(stream, counter);
    counter(padding === undefined ? content : content.subarray(1, content.length - padding));
  }
}
