import { createHash } from 'node:crypto';

/**
 * Returns the trace id of a task (W3C Trace Context). Envelopes carry no trace context and need none: the ids
 * follow from the ids of run, task and packet, which both ends know. Hub, agent or a foreign agent in another
 * language therefore derive the same ids without a byte on the wire. A packet that continues in a protocol
 * with its own context (MCP's `_meta`, A2A's metadata) carries {@link formatTraceparent}.
 *
 * A task is a trace; each packet is a span of it and covers the work that produced the packet.
 */
export function hashTraceId(runId: string, taskId: string): string {
  return hashParts(['task', runId, taskId], 16);
}

/** Returns the span id of a packet, or of another part of the run: `run`, or the nth exchange of an agent with a model. */
export function hashSpanId(kind: 'packet' | 'other', runId: string, ...what: readonly string[]): string {
  return hashParts([kind, runId, ...what], 8);
}

interface PacketOfRun {
  readonly runId: string;
  readonly taskId: string;
  readonly packetId: string;
}

/** Formats the `traceparent` of work that a packet causes. */
export function formatTraceparent({ runId, taskId, packetId }: PacketOfRun): string {
  return `00-${hashTraceId(runId, taskId)}-${hashSpanId('packet', runId, packetId)}-01`;
}

/** Returns the first bytes of SHA-256 over the compact JSON of a list of texts, in hexadecimal. */
function hashParts(of: readonly string[], bytes: number): string {
  return createHash('sha256')
    .update(JSON.stringify(of))
    .digest('hex')
    .slice(0, 2 * bytes);
}
