import { NETWORK_LIMITS } from '../../contracts/limits.ts';

/** A network between two ends, the same in both directions. */
export interface Network {
  /** Milliseconds to the other end and back. */
  readonly rttMs: number;
  /** Bits a second in each direction. */
  readonly bitsPerS: number;
}

/** The texts that {@link parseNetwork} takes, besides `none`. */
export const NETWORK_FORMS = 'lan, wan, mobile or rtt=40ms,rate=10mbit';

const UNITS: readonly (readonly [string, number])[] = [
  ['G', 1e9],
  ['M', 1e6],
  ['k', 1e3],
];
/** Networks with names: a switch, two offices, a telephone. */
const NAMED: ReadonlyMap<string, Network | null> = new Map([
  ['none', null],
  ['lan', { rttMs: 0.5, bitsPerS: 1e9 }],
  ['wan', { rttMs: 40, bitsPerS: 100e6 }],
  ['mobile', { rttMs: 80, bitsPerS: 10e6 }],
]);
const OWN = /^rtt=(\d{1,4}(?:\.\d{1,3})?)ms,rate=(\d{1,6})([kmg])bit$/i;

/** Parses {@link NETWORK_FORMS}; null for none, undefined for any other text. */
export function parseNetwork(text: string): Network | null | undefined {
  const named = NAMED.get(text);
  if (named !== undefined) return named;
  const [, rtt, rate, letter = ''] = OWN.exec(text) ?? [];
  const [, unit = 0] = UNITS.find(([own]) => own.toLowerCase() === letter.toLowerCase()) ?? [];
  const network = { rttMs: Number(rtt), bitsPerS: Number(rate) * unit };
  return network.bitsPerS > 0 && network.rttMs <= NETWORK_LIMITS.rttMs ? network : undefined;
}

/** Describes a network to people: `40 ms round trip, 100 Mbit/s`. */
export function formatNetwork({ rttMs, bitsPerS }: Network): string {
  const [letter, unit] = UNITS.find(([, own]) => bitsPerS >= own) ?? ['', 1];
  return `${rttMs} ms round trip, ${bitsPerS / unit} ${letter}bit/s`;
}

/** One direction of a network. All that is sent over it shares its rate: bytes wait for those before them. */
export class Line {
  readonly #network: Network;
  #freeAtMs = 0;

  constructor(network: Network) {
    this.#network = network;
  }

  /** Returns the time at which bytes that are sent now have arrived whole. */
  send(bytes: number, nowMs: number): number {
    const { rttMs, bitsPerS } = this.#network;
    this.#freeAtMs = Math.max(nowMs, this.#freeAtMs) + (bytes * 8 * 1000) / bitsPerS;
    return this.#freeAtMs + rttMs / 2;
  }
}
