import type { DirectionBytes, WireBytes } from './stack.ts';

const NOTHING: DirectionBytes = { raw: 0, tls: 0, head: 0, body: 0, messages: 0 };

export const NO_BYTES: WireBytes = { connections: 0, sent: NOTHING, received: NOTHING };

/** Adds counts line by line. */
export function sumWireBytes(wires: readonly WireBytes[]): WireBytes {
  return wires.reduce((sum, wire) => combineWireBytes(sum, wire, (a, b) => a + b), NO_BYTES);
}

/** Returns the bytes between two counts of the same side. */
export function subtractWireBytes(before: WireBytes, after: WireBytes): WireBytes {
  return combineWireBytes(after, before, (a, b) => a - b);
}

function combineWireBytes(
  one: WireBytes,
  other: WireBytes,
  combine: (a: number, b: number) => number,
): WireBytes {
  const direction = (a: DirectionBytes, b: DirectionBytes): DirectionBytes => ({
    raw: combine(a.raw, b.raw),
    tls: combine(a.tls, b.tls),
    head: combine(a.head, b.head),
    body: combine(a.body, b.body),
    messages: combine(a.messages, b.messages),
  });
  return {
    connections: combine(one.connections, other.connections),
    sent: direction(one.sent, other.sent),
    received: direction(one.received, other.received),
  };
}

const LINES = ['raw', 'tls', 'head', 'body'] as const;

/**
 * Explains why the two sides of the same connections do not agree, or the lines of a side do not add up;
 * returns undefined if all is well.
 */
export function findDisagreement(client: WireBytes, server: WireBytes): string | undefined {
  const pairs = [
    ['client to server', client.sent, server.received],
    ['server to client', server.sent, client.received],
  ] as const;
  for (const [way, out, into] of pairs) {
    for (const line of LINES) {
      if (out[line] !== into[line])
        return `${way}: ${line} is ${out[line]} at one end, ${into[line]} at the other`;
    }
    for (const { raw, tls, head, body } of [out, into]) {
      if (raw !== tls + head + body)
        return `${way}: ${tls} tls + ${head} head + ${body} body are not ${raw} bytes`;
    }
  }
  return undefined;
}
