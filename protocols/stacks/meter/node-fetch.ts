import { subscribe } from 'node:diagnostics_channel';
import { Socket } from 'node:net';
import { type BodyCounter, bodyCounter, formatOf } from './body-counter.ts';
import { bytesOf, fieldOf } from './tap.ts';
import { WireMeter } from './wire-meter.ts';

/** Bodies of a request and of its answer. */
interface Counters {
  readonly meter: WireMeter;
  readonly sent: BodyCounter;
  received: BodyCounter;
}

/** Has meters see the bodies of `fetch`, Node's own and that of the package `undici`: each names its channels so. */
export function watchFetch(): void {
  const exchanges = new WeakMap<object, Counters>();
  const of = (message: unknown) => {
    const request = fieldOf(message, 'request');
    return typeof request === 'object' && request !== null ? exchanges.get(request) : undefined;
  };
  subscribe('undici:client:sendHeaders', (message) => {
    const request = fieldOf(message, 'request');
    const socket = fieldOf(message, 'socket');
    if (typeof request !== 'object' || request === null) return;
    // HTTP/2 is Node's, also here, and counted there.
    if (!(socket instanceof Socket) || fieldOf(socket, 'alpnProtocol') === 'h2') return;
    const meter = WireMeter.of(socket);
    if (meter === undefined) return;
    exchanges.set(request, {
      meter,
      sent: bodyCounter('whole', meter.out),
      received: bodyCounter('whole', meter.in),
    });
  });
  subscribe('undici:request:headers', (message) => {
    const counters = of(message);
    if (counters === undefined) return;
    const type = contentTypeIn(fieldOf(fieldOf(message, 'response'), 'headers'));
    counters.received = bodyCounter(formatOf(type), counters.meter.in);
  });
  subscribe('undici:request:bodyChunkSent', (message) => {
    const chunk = bytesOf(fieldOf(message, 'chunk'), 'utf8');
    if (chunk !== undefined) of(message)?.sent(chunk);
  });
  subscribe('undici:request:bodyChunkReceived', (message) => {
    const chunk = bytesOf(fieldOf(message, 'chunk'), 'utf8');
    if (chunk !== undefined) of(message)?.received(chunk);
  });
}

/** Of names and values that take turns. */
function contentTypeIn(headers: unknown): string | undefined {
  if (!Array.isArray(headers)) return undefined;
  const at = headers.findIndex((text, i) => i % 2 === 0 && String(text).toLowerCase() === 'content-type');
  return at === -1 ? undefined : String(headers[at + 1]);
}
