import { setMaxListeners } from 'node:events';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues } from '@gaia-mesh/core/contracts/packet.ts';
import type { Stack, StackClient, StackServer } from '@gaia-mesh/stacks/contract/stack.ts';
import { readProcessUsage } from '@gaia-mesh/stacks/control-channel.ts';
import { loadStack } from '@gaia-mesh/stacks/registry.ts';
import * as z from 'zod';
import { play } from './load.ts';
import { createPlannedInbox, planExchange } from './planned-inbox.ts';
import {
  type Command,
  type CommandOf,
  commandSchema,
  type Part,
  type PlannedExchange,
  type Reply,
  replySchemas,
  type StackRef,
} from './protocol.ts';

interface Sequence {
  readonly exchanges: readonly PlannedExchange[];
  /** Index of the next load's first exchange. */
  next: number;
}

interface Connected {
  readonly client: StackClient;
  readonly parts: Readonly<Record<Part, Sequence>>;
}

/** One end of a comparison, in a process of its own: a server, or a client of one. */
class Peer {
  readonly #over = new AbortController();
  #connected: Connected | undefined;
  #server:
    | { readonly server: StackServer; readonly planned: ReturnType<typeof createPlannedInbox> }
    | undefined;

  constructor() {
    // Every running exchange listens to the signal.
    setMaxListeners(0, this.#over.signal);
  }

  /** Runs a command; the result matches the schema of that command. */
  async do(command: Command): Promise<unknown> {
    switch (command.do) {
      case 'serve':
        return this.#serve(command);
      case 'connect':
        return this.#connect(command);
      case 'play':
        return this.#play(command);
      case 'count':
        return this.#count();
      case 'close':
        await this.close();
        return {};
    }
  }

  async close(): Promise<void> {
    this.#over.abort(new MeshError('interrupted', 'the comparison is over'));
    await this.#connected?.client.close();
    await this.#server?.server.close();
  }

  async #serve({ stack: ref, settings, exchanges, workMs }: Extract<Command, { do: 'serve' }>) {
    const stack = await findStack({ ...ref, implementation: ref.server ?? ref.implementation });
    const planned = createPlannedInbox(exchanges, workMs);
    const server = await stack.serve(planned.inbox, settings);
    this.#server = { server, planned };
    return { address: server.address, port: server.port };
  }

  /** Sets up a session and returns its time. */
  async #connect({ stack: ref, settings, address, exchanges }: Extract<Command, { do: 'connect' }>) {
    const stack = await findStack(ref);
    const beganMs = performance.now();
    const client = await stack.connect(address, settings);
    const ms = performance.now() - beganMs;
    this.#connected = { client, parts: splitExchanges(exchanges) };
    return { ms };
  }

  async #play({ part, from, load }: CommandOf<'play'>): Promise<Reply<'play'>> {
    if (this.#connected === undefined) throw new MeshError('usage', 'nothing is connected');
    const { client, parts } = this.#connected;
    const sequence = parts[part];
    const { exchanges } = sequence;
    if (exchanges.length === 0) throw new MeshError('usage', `there are no exchanges that are ${part}`);
    const first = from ?? sequence.next;
    if (client.play !== undefined) {
      const played = replySchemas.play.parse(await client.play({ exchanges, first, load }));
      // Like here, an exchange that was begun is not begun again.
      sequence.next = first + played.count;
      return played;
    }
    return play(load, (index) => {
      const nth = first + index;
      sequence.next = nth + 1;
      const { request, replies, check } = planExchange(exchanges, nth);
      return { begin: () => client.exchange(request, this.#over.signal, replies.length), check };
    });
  }

  async #count(): Promise<Reply<'count'>> {
    const started = await (this.#server?.server ?? this.#connected?.client)?.ask?.();
    const own = readProcessUsage();
    const { server, planned } = this.#server ?? {};
    return {
      server: server?.wire() ?? null,
      client: this.#connected?.client.wire() ?? null,
      arrived: (planned?.arrived ?? 0) + (started?.packets ?? 0),
      strangers: (planned?.strangers ?? 0) + (started?.refused ?? 0),
      cpuUs: own.cpuUs,
      startedUs: started?.cpuUs ?? { user: 0, system: 0 },
      // If the server or client has a process of its own, this one uses none of that memory.
      rssBytes: started?.rssBytes ?? own.rssBytes,
    };
  }
}

function splitExchanges(exchanges: readonly PlannedExchange[]): Connected['parts'] {
  const sequence = (own: readonly PlannedExchange[]): Sequence => ({ exchanges: own, next: 0 });
  return {
    answered: sequence(exchanges.filter(({ replies }) => replies.length > 0)),
    'one-way': sequence(exchanges.filter(({ replies }) => replies.length === 0)),
  };
}

/** @throws MeshError `usage` for an unknown name, `config` if the file does not export the stack or its package is missing */
async function findStack({ name, implementation, file }: StackRef): Promise<Stack> {
  if (file === undefined) return loadStack(name, implementation);
  const found = (await readStacks(file)).find(
    (stack) => stack.name === name && stack.implementation === implementation,
  );
  if (found === undefined)
    throw new MeshError('config', `${file} exports no stack ${name} (${implementation})`);
  return found;
}

/**
 * Reads the stacks of a user's file. The loader of such files imports all adapters and tools, so it is imported on demand: the process of a
 * built-in stack has none of that in its memory.
 */
async function readStacks(file: string): Promise<readonly Stack[]> {
  const { readStacks } = await import('../../../teams/user-files.ts');
  return readStacks(file);
}

const askedSchema = z.strictObject({ call: z.int(), command: z.unknown() });

/**
 * Runs one end of a measured stack as commanded over the channel, until the channel closes: a comparison that was killed leaves no process
 * behind. It ignores the terminal's Ctrl-C.
 */
export function runLaunchedPeer(): void {
  const peer = new Peer();
  const end = () => {
    // The end of the process closes anything that does not close in time.
    setTimeout(() => process.exit(0), CLOSE_MS).unref();
    peer.close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', end);
  process.on('disconnect', end);
  process.on('message', (message) => void answer(peer, message));
}

const CLOSE_MS = 1000;

async function answer(peer: Peer, message: unknown): Promise<void> {
  const asked = askedSchema.parse(message);
  try {
    const command = commandSchema.safeParse(asked.command);
    if (!command.success) throw new MeshError('usage', `not a command: ${formatIssues(command.error)}`);
    const value = await peer.do(command.data);
    process.send?.({ call: asked.call, value });
  } catch (error) {
    // A bug of a stack fails its round, with the stack trace, and no other.
    const isExpected = error instanceof MeshError;
    const failed = isExpected
      ? { code: error.code, message: error.message }
      : { code: 'bug', message: String(error instanceof Error ? error.stack : toErrorMessage(error)) };
    process.send?.({ call: asked.call, failed });
  }
}
