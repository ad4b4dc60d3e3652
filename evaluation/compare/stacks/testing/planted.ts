import type { Packet } from '../../../../core/contracts/packet.ts';
import type { Inbox, Stack, StackClient } from '../../../../protocols/stacks/contract/stack.ts';
import { type Framing, makeFramedStack } from './framed-tcp.ts';

/**
 * Designs of protocol × implementation × setting in which all levels do the same work, but for one defect as people have them in real
 * stacks: to see whether a comparison names the factor that the defect was planted in, and blames none where there is no defect.
 */
export interface Design {
  readonly name: string;
  /** What was planted, for people. */
  readonly defect: string;
  /** The factor that is to be named. */
  readonly factor: 'protocol' | 'implementation' | 'nagle';
  /** As `--factor` takes them: two levels each. */
  readonly settings: readonly string[];
  /** Exchanges at once under full load. */
  readonly concurrency: number;
  /** Milliseconds that the work for an answer takes. */
  readonly workMs: number;
  /** Bytes of what is asked, and of what answers it. */
  readonly sizes: readonly [number, number];
  /** Fresh pairs of processes of each arm: more where the defect is small. */
  readonly invocations: number;
  /** Of each protocol and implementation; the first is the baseline. */
  readonly stacks: readonly Stack[];
}

type Level = Pick<Stack, 'protocol' | 'implementation'>;

const LEVELS: readonly Level[] = [
  { protocol: 'json', implementation: 'bare' },
  { protocol: 'json', implementation: 'sdk' },
  { protocol: 'a2a', implementation: 'bare' },
  { protocol: 'a2a', implementation: 'sdk' },
];

/** Nothing that is not written in these stacks makes it matter. */
const IDLE_SETTING = 'keepalive=60000,30000';
const MAX_HISTORY = 200;

/** @param isPlanted without it, the same design with no defect */
export function designs(isPlanted: boolean): Design[] {
  const all: readonly (Omit<Design, 'stacks'> & { readonly plant: (level: Level) => Planted })[] = [
    {
      name: 'pool',
      defect: 'a client that all callers share, with a pool of one connection',
      factor: 'implementation',
      settings: [IDLE_SETTING],
      concurrency: 16,
      workMs: 2,
      sizes: [1024, 1024],
      invocations: 6,
      plant: ({ implementation }) => (implementation === 'sdk' ? { wrapClient: oneAtATime } : {}),
    },
    {
      name: 'nagle',
      defect: 'a message in two writes, and Nagle’s algorithm against delayed acknowledgements',
      factor: 'nagle',
      settings: ['nagle=off,on'],
      concurrency: 1,
      workMs: 0,
      sizes: [1024, 1024],
      invocations: 6,
      plant: () => ({ isSplit: true }),
    },
    {
      name: 'history',
      defect: 'a history that the server copies deeply for each message',
      factor: 'protocol',
      settings: [IDLE_SETTING],
      concurrency: 4,
      workMs: 0,
      sizes: [4096, 64],
      invocations: 6,
      plant: ({ protocol }) => (protocol === 'a2a' ? { wrapInbox: withHistory } : {}),
    },
    {
      name: 'parser',
      defect: 'a server that parses each message twice',
      factor: 'implementation',
      settings: [IDLE_SETTING],
      concurrency: 4,
      workMs: 0,
      sizes: [65_536, 64],
      invocations: 8,
      plant: ({ implementation }) => (implementation === 'sdk' ? { parses: 2 } : {}),
    },
  ];
  return all.map(({ plant, ...design }) => ({
    ...design,
    stacks: LEVELS.map((level) =>
      planted(
        `${isPlanted ? design.name : `honest-${design.name}`}/${level.protocol}`,
        level,
        isPlanted ? plant(level) : {},
      ),
    ),
  }));
}

interface Planted extends Framing {
  readonly wrapInbox?: (inbox: Inbox) => Inbox;
  readonly wrapClient?: (client: StackClient) => StackClient;
}

function planted(name: string, level: Level, { wrapInbox, wrapClient, ...framed }: Planted): Stack {
  const stack = makeFramedStack(name, framed);
  return {
    ...stack,
    ...level,
    serve: (inbox, settings) => stack.serve(wrapInbox?.(inbox) ?? inbox, settings),
    async connect(address, settings) {
      const client = await stack.connect(address, settings);
      return wrapClient?.(client) ?? client;
    },
  };
}

/** Copies all that it has heard for each message, as a store of tasks that hands out copies does. */
function withHistory(inbox: Inbox): Inbox {
  const history: Packet[] = [];
  return (packet, signal) => {
    if (history.length < MAX_HISTORY) history.push(packet);
    structuredClone(history);
    return inbox(packet, signal);
  };
}

function oneAtATime(client: StackClient): StackClient {
  let before: Promise<unknown> = Promise.resolve();
  return {
    ...client,
    exchange(packet, signal, answers) {
      const own = before.then(() => client.exchange(packet, signal, answers));
      before = own.catch(() => undefined);
      return own;
    },
  };
}

/** What the processes of a comparison find when they load this file by name. */
export const stacks: readonly Stack[] = [true, false].flatMap((isPlanted) =>
  designs(isPlanted).flatMap((design) => design.stacks),
);
