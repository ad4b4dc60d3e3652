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

const UNITS: Readonly<Record<string, number>> = { k: 1e3, m: 1e6, g: 1e9 };
/** Networks with names: a switch, two offices, a telephone. */
const NAMED: ReadonlyMap<string, Network | null> = new Map([
  ['none', null],
  ['lan', { rttMs: 0.5, bitsPerS: 1e9 }],
  ['wan', { rttMs: 40, bitsPerS: 100e6 }],
  ['mobile', { rttMs: 80, bitsPerS: 10e6 }],
]);
const OWN = /^rtt=(\d{1,4}(?:\.\d{1,3})?)ms,rate=(\d{1,6})([kmg])bit$/;

/** Parses {@link NETWORK_FORMS}; null for none, undefined for any other text. */
export function parseNetwork(text: string): Network | null | undefined {
  const named = NAMED.get(text);
  if (named !== undefined) return named;
  const [, rtt, rate, unit = ''] = OWN.exec(text) ?? [];
  const network = { rttMs: Number(rtt), bitsPerS: Number(rate) * (UNITS[unit] ?? 0) };
  return network.bitsPerS > 0 && network.rttMs <= NETWORK_LIMITS.rttMs ? network : undefined;
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
