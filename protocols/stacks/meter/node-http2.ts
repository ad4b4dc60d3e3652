import { subscribe } from 'node:diagnostics_channel';
import type { Http2Stream } from 'node:http2';
import { Duplex } from 'node:stream';
import { type BodyCounter, bodyCounter, formatOf } from './body-counter.ts';
import { fieldOf, tapReads, tapWrites } from './tap.ts';
import { WireMeter } from './wire-meter.ts';

/** Has meters see what HTTP/2 streams of this process carry in DATA frames, at both ends; of gRPC what is behind its prefixes. */
export function watchHttp2(): void {
  // The heads of messages that are read, by stream.
  const heads = new WeakMap<object, unknown>();
  for (const side of ['client', 'server'] as const) {
    subscribe(`http2.${side}.stream.created`, (message) => {
      const stream = fieldOf(message, 'stream');
      if (!isHttp2Stream(stream) || stream.session === undefined) return;
      const meter = WireMeter.of(stream.session.socket);
      if (meter === undefined) return;
      if (side === 'server') heads.set(stream, fieldOf(message, 'headers'));
      tapReads(
        stream,
        onceOpen(() => bodyCounter(formatIn(heads.get(stream)), meter.in)),
      );
      tapWrites(
        stream,
        onceOpen(() => bodyCounter(formatIn(stream.sentHeaders), meter.out)),
      );
    });
  }
  subscribe('http2.client.stream.finish', (message) => {
    const stream = fieldOf(message, 'stream');
    if (isHttp2Stream(stream)) heads.set(stream, fieldOf(message, 'headers'));
  });
}

/** A counter that is made for the first piece: heads come before it. */
function onceOpen(open: () => BodyCounter): BodyCounter {
  let counter: BodyCounter | undefined;
  return (chunk) => {
    counter ??= open();
    counter(chunk);
  };
}

function formatIn(headers: unknown) {
  const type = fieldOf(headers, 'content-type');
  return formatOf(typeof type === 'string' ? type : undefined);
}

/** Node has the class, and no name for it. */
function isHttp2Stream(value: unknown): value is Http2Stream {
  return value instanceof Duplex && 'sentHeaders' in value && 'session' in value;
}
