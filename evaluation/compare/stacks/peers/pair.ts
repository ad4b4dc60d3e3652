import { spawn } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type ErrorCode, MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { AGENT_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { ChildCalls } from '@gaia-mesh/core/system/process/child-calls.ts';
import type { Network } from '@gaia-mesh/core/transports/network/network.ts';
import { NetworkProcess } from '@gaia-mesh/core/transports/network/network-process.ts';
import type { WireBytes } from '@gaia-mesh/stacks/contract/wire-sum.ts';
import { compareEnds, subtractWireBytes } from '@gaia-mesh/stacks/contract/wire-sum.ts';
import type * as z from 'zod';
import {
  answerSchema,
  type Command,
  type CommandOf,
  type CpuUs,
  type Load,
  type Reply,
  replySchemas,
} from './protocol.ts';

/** The exchanges that a pair plays, and the network between its ends. */
export interface PairOptions extends CommandOf<'serve'> {
  readonly network?: Network | null;
}

interface PairLoad extends Reply<'play'> {
  readonly client: CpuUs;
  readonly server: CpuUs;
  /** Bytes that the connections carried, as the client's side. */
  readonly wire: WireBytes;
}

/** Maximum milliseconds until both ends agree on their bytes: flow control and acknowledgements of HTTP/2 come after the answer. */
const AGREEMENT_MS = 3000;
const LOOK_AGAIN_MS = 5;

/** A client and a server in fresh processes, with one session between them. */
export class Pair {
  /** Cost of the session's set-up: agent card, versions, tools. */
  readonly setup: { readonly ms: number; readonly wire: WireBytes };
  /** Counts the round trips so far; null without a network. */
  readonly countRoundTrips: () => Promise<number | null>;
  /** False if neither end counts its bytes, as in other languages. */
  readonly isCounted: boolean;
  readonly #client: PeerProcess;
  readonly #server: PeerProcess;
  readonly #between: NetworkProcess | undefined;

  private constructor(
    {
      client,
      server,
      between,
    }: { client: PeerProcess; server: PeerProcess; between: NetworkProcess | undefined },
    setup: Pair['setup'],
    isCounted: boolean,
    countRoundTrips: Pair['countRoundTrips'],
  ) {
    this.#between = between;
    this.countRoundTrips = countRoundTrips;
    this.isCounted = isCounted;
    this.#client = client;
    this.#server = server;
    this.setup = setup;
  }

  /** @throws MeshError as the stack does; `agent` when a process fails */
  static async start(
    { stack, settings, exchanges, workMs, network }: PairOptions,
    signal: AbortSignal,
  ): Promise<Pair> {
    const server = new PeerProcess(`server of ${stack.name}`);
    const client = new PeerProcess(`client of ${stack.name}`);
    const between = network == null ? undefined : new NetworkProcess(network);
    const kill = () => {
      for (const one of [client, server, between]) one?.kill();
    };
    signal.addEventListener('abort', kill, { once: true });
    try {
      const relayPort = (await between?.relay({}))?.port;
      const toServer = { ...settings, advertisedPort: relayPort };
      // The client's process starts at the same time.
      const [{ address, port }] = await Promise.all([
        server.ask('serve', { stack, settings: toServer, exchanges, workMs }, AGENT_LIMITS.startMs),
        client.ask('count', {}),
      ]);
      await between?.relay({ port: relayPort, to: port });
      const { ms } = await client.ask(
        'connect',
        { stack, settings, address, exchanges },
        AGENT_LIMITS.startMs,
      );
      const { wire, isCounted } = await awaitAgreement(client, server, 0);
      const setup = { ms, wire };
      return new Pair(
        { client, server, between },
        setup,
        isCounted,
        async () => (await between?.relay({ port: relayPort }))?.roundTrips ?? null,
      );
    } catch (error) {
      kill();
      signal.throwIfAborted();
      throw error;
    }
  }

  /**
   * Plays a load and returns its costs at both ends.
   *
   * @throws MeshError `packet` if unplanned packets came, or the ends do not agree on their bytes
   */
  async play(load: Load, more: Partial<Pick<CommandOf<'play'>, 'part' | 'from'>> = {}): Promise<PairLoad> {
    const [clientBefore, serverBefore] = await this.count();
    const ms = load.kind === 'closed' ? load.maxMs : (load.count / load.ratePerS) * 1000;
    const played = await this.#client.ask(
      'play',
      { part: 'answered', from: null, ...more, load },
      ms + SLACK_MS,
    );
    const [client, server] = await this.count();
    const { wire } = await awaitAgreement(this.#client, this.#server, serverBefore.arrived + played.count);
    return {
      ...played,
      client: subtractCpu(client, clientBefore),
      server: subtractCpu(server, serverBefore),
      wire: subtractWireBytes(compareEnds(clientBefore.client, serverBefore.server).wire, wire),
    };
  }

  /** Counts client and server. */
  async count(): Promise<readonly [Reply<'count'>, Reply<'count'>]> {
    return Promise.all([this.#client.ask('count', {}), this.#server.ask('count', {})]);
  }

  async stop(): Promise<void> {
    // The client stops first, so that it sees no broken connection.
    await this.#client.stop();
    await this.#server.stop();
    await this.#between?.stop();
  }
}

/** Number of equal counts in a row after which bytes that one end did not read are those of closed connections. */
const SAME_LOOKS = 4;

/** Waits until both ends have counted the same bytes and every packet has arrived. */
async function awaitAgreement(
  client: PeerProcess,
  server: PeerProcess,
  arrivals: number,
): Promise<{ readonly wire: WireBytes; readonly isCounted: boolean }> {
  const startMs = performance.now();
  let last: WireBytes | undefined;
  for (let same = 1; ; ) {
    const [asked, served] = await Promise.all([client.ask('count', {}), server.ask('count', {})]);
    const { why: disagreement, hasUnread, wire } = compareEnds(asked.client, served.server);
    const why = disagreement ?? explainMissing(served, arrivals);
    same = isDeepStrictEqual(wire, last) ? same + 1 : 1;
    last = wire;
    const isCounted = asked.client !== null || served.server !== null;
    if (why === undefined && (!hasUnread || same >= SAME_LOOKS)) return { wire, isCounted };
    if (why !== undefined && performance.now() - startMs > AGREEMENT_MS) {
      throw new MeshError('packet', `the two ends of ${client.name} do not agree: ${why}`);
    }
    await sleep(LOOK_AGAIN_MS);
  }
}

function explainMissing({ arrived, strangers }: Reply<'count'>, expected: number): string | undefined {
  if (strangers > 0) return `${strangers} unexpected packets arrived`;
  return arrived === expected ? undefined : `${expected} packets were sent, and ${arrived} arrived`;
}

/** Returns the CPU time of a process, and of those that it started, between two counts. */
function subtractCpu(after: Reply<'count'>, before: Reply<'count'>): CpuUs {
  const subtract = (key: keyof CpuUs) =>
    Math.max(0, after.cpuUs[key] + after.startedUs[key] - before.cpuUs[key] - before.startedUs[key]);
  return { user: subtract('user'), system: subtract('system') };
}

/** Bytes of a process's standard error that are kept, to show them if it fails. */
const STDERR_BYTES = 4 * 1024;
/** Maximum wait for an answer, beyond the time of a load. */
const SLACK_MS = 30_000;

/** A started process that runs one node. */
class PeerProcess {
  readonly name: string;
  readonly #calls: ChildCalls;
  #stderr = '';

  /** @param name name of the node in messages */
  constructor(name: string) {
    this.name = name;
    const child = spawn(process.execPath, [path.join(codeFolder, 'scripts', 'gaia-mesh.js'), 'peer'], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      // Ctrl-C reaches only the comparison, which stops its processes in order.
      detached: true,
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_BYTES);
    });
    this.#calls = new ChildCalls(child, (why) => this.#failure(why));
    child.on('message', (message) => this.#answered(message));
  }

  /** Lets the process run a command. */
  async ask<Name extends Command['do']>(
    name: Name,
    command: CommandOf<Name>,
    patienceMs = SLACK_MS,
  ): Promise<Reply<Name>> {
    const schemas: { readonly [Own in Command['do']]: z.ZodType<Reply<Own>> } = replySchemas;
    return schemas[name].parse(
      await this.#calls.ask({ command: { do: name, ...command } }, name, patienceMs),
    );
  }

  /** Stops the process after it has closed its stack; kills it if it does not exit. */
  async stop(): Promise<void> {
    await this.ask('close', {}, AGENT_LIMITS.stopMs).catch(() => undefined);
    await this.#calls.stop();
  }

  kill(): void {
    this.#calls.kill();
  }

  #answered(message: unknown): void {
    const parsed = answerSchema.safeParse(message);
    // A package may have used the channel for its own messages.
    if (!parsed.success) return;
    const call = this.#calls.find(parsed.data.call);
    if (!('failed' in parsed.data)) {
      call?.resolve(parsed.data.value);
      return;
    }
    const { code, message: why } = parsed.data.failed;
    call?.reject(new MeshError(toErrorCode(code), `${this.name}: ${why}`));
  }

  #failure(why: string): MeshError {
    const said = this.#stderr.trim();
    return new MeshError('agent', `${this.name}: ${why}${said === '' ? '' : `; it said:\n${said}`}`);
  }
}

const CODES: readonly ErrorCode[] = [
  'usage',
  'config',
  'io',
  'agent',
  'handshake',
  'frame',
  'packet',
  'limit',
];

/** Converts a code from a process. A bug is not an expected error: it is reported as a failure of the process. */
function toErrorCode(code: string): ErrorCode {
  return CODES.find((known) => known === code) ?? 'agent';
}
