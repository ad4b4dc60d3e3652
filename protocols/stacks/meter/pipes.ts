import type { Socket } from 'node:net';
import { createBodyCounter } from './body-counter.ts';
import { tapReads, tapWrites } from './tap.ts';
import { WireMeter } from './wire-meter.ts';

/**
 * Counts a pair of pipes as one connection, on which each line is a message. A second call for the same pipes
 * changes nothing.
 */
export function watchPipes(meter: WireMeter, readable: Socket, writable: Socket): void {
  if (WireMeter.of(writable) !== undefined) return;
  meter.add(writable);
  if (readable !== writable) meter.add(readable, { isPart: true });
  tapReads(readable, createBodyCounter('lines', meter.in));
  tapWrites(writable, createBodyCounter('lines', meter.out));
}
