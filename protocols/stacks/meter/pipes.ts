import type { Socket } from 'node:net';
import { bodyCounter } from './body-counter.ts';
import { tapReads, tapWrites } from './tap.ts';
import { WireMeter } from './wire-meter.ts';

/** Counts a pair of pipes as one connection, on which each line is a message. A second call for the same pipes changes nothing. */
export function watchPipes(meter: WireMeter, readable: Socket, writable: Socket): void {
  if (WireMeter.of(writable) !== undefined) return;
  meter.add(writable);
  if (readable !== writable) meter.add(readable, { isPart: true });
  tapReads(readable, bodyCounter('lines', meter.in));
  tapWrites(writable, bodyCounter('lines', meter.out));
}
