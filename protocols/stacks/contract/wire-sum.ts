import * as z from 'zod';

/** An amount of anything that is counted or timed. */
export const amount = z.number().nonnegative();

const directionSchema = z
  .strictObject({
    /** Bytes that the operating system's handles count. */
    raw: amount,
    /** Handshakes and records: everything that TLS adds. 0 without TLS. */
    tls: amount,
    /**
     * Request and status lines, header fields, chunk and frame heads, flow control, lengths: everything that
     * the transport puts around messages.
     */
    head: amount,
    /** Bytes of the messages themselves. */
    body: amount,
    /** Number of messages, for heads per message. */
    messages: amount,
  })
  .readonly();
export type DirectionBytes = z.infer<typeof directionSchema>;

/** Schema of {@link WireBytes}, as one process sends them to another. */
export const wireSchema = z
  .strictObject({
    /** Number of connections, or pairs of pipes, that were opened. */
    connections: amount,
    /** Number of these that have ended; absent where a stack does not count them. */
    closed: amount.optional(),
    sent: directionSchema,
    received: directionSchema,
  })
  .readonly();

/**
 * Bytes of one side so far. Every byte of its sockets or pipes is on one line:
 *
 * `raw = tls + head + body`. The messages in bodies are `envelope + payload`, which only code that knows the
 * packets can split: payload is the UTF-8 length of `JSON.stringify(packet.payload)`. The lines are exact
 * whenever nothing is under way. `meter/wire-meter.ts` explains how each line is measured, and `meterStack` of
 * `meter/metered.ts` counts for every stack.
 */
export type WireBytes = z.infer<typeof wireSchema>;

const NOTHING: DirectionBytes = { raw: 0, tls: 0, head: 0, body: 0, messages: 0 };

const NO_BYTES: WireBytes = { connections: 0, sent: NOTHING, received: NOTHING };

/** Adds counts line by line; no counts are no bytes. */
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
    closed: combine(one.closed ?? 0, other.closed ?? 0),
    sent: direction(one.sent, other.sent),
    received: direction(one.received, other.received),
  };
}

const LINES = ['raw', 'tls', 'head', 'body'] as const;

/**
 * Maximum bytes with which an end takes leave of a connection that the other end has closed already, and which
 * the other end therefore never reads: an alert of TLS (24), GOAWAY and RST_STREAM of HTTP/2 (17 and 13 each)
 * with their records, and acknowledgements of frames that were under way.
 */
const MAX_FAREWELL_BYTES = 256;

/** Result of comparing the two ends of the same connections. */
interface Agreement {
  /** Explanation why the two sides do not agree, or the lines of a side do not add up; undefined if all is well. */
  readonly why?: string | undefined;
  /** True if a side sent bytes on closed connections that the other one did not read. */
  readonly hasUnread: boolean;
  /** Bytes that the connections carried, as the client's side: in both directions those that were sent. */
  readonly wire: WireBytes;
  /** Counts of the ends; those of an end that does not count follow from the other one's. */
  readonly client: WireBytes;
  readonly server: WireBytes;
}

/**
 * Compares the counts of a client with those of its server. Both ends of an open connection count the same
 * bytes. An end that closes a connection does not read the other end's last bytes; they were sent, so they
 * are booked, and may be no message.
 *
 * @param counted null, like `serverCounted`, for an end that does not count
 */
export function compareEnds(counted: WireBytes | null, serverCounted: WireBytes | null): Agreement {
  const client = counted ?? mirror(serverCounted);
  const server = serverCounted ?? mirror(counted);
  const counts = { wire: { ...client, received: server.sent }, client, server };
  const ways = [
    { way: 'client to server', out: client.sent, into: server.received, closed: server.closed ?? 0 },
    { way: 'server to client', out: server.sent, into: client.received, closed: client.closed ?? 0 },
  ];
  for (const { way, out, into, closed } of ways) {
    for (const line of LINES) {
      const unread = line === 'body' ? 0 : closed * MAX_FAREWELL_BYTES;
      const isMore = line === 'raw' && out.raw < into.raw;
      if (Math.abs(out[line] - into[line]) > unread || isMore) {
        const why = `${way}: ${line} is ${out[line]} at one end, ${into[line]} at the other`;
        return { why, hasUnread: false, ...counts };
      }
    }
    for (const { raw, tls, head, body } of [out, into]) {
      if (raw !== tls + head + body) {
        const why = `${way}: ${tls} tls + ${head} head + ${body} body are not ${raw} bytes`;
        return { why, hasUnread: false, ...counts };
      }
    }
  }
  const hasUnread = ways.some(({ out, into }) => LINES.some((line) => out[line] !== into[line]));
  return { hasUnread, ...counts };
}

/** Returns what the other end counts of the same connections. */
function mirror(wire: WireBytes | null): WireBytes {
  return wire === null ? NO_BYTES : { ...wire, sent: wire.received, received: wire.sent };
}
