import { createHash } from 'node:crypto';

/**
 * The trace context of a run's packets (W3C Trace Context). An envelope has no room for one, and needs none: its ids follow from what
 * both ends of a packet know, the ids of run, task and packet. So whoever traces a packet, hub, agent or a foreign agent in another
 * language, comes to the same ids without a byte on the wire. Where a packet goes on in a protocol that carries a context of its own
 * (MCP's `_meta`, A2A's metadata), {@link formatTraceparent} is what it carries.
 *
 * A task is a trace; each packet is a span of it, that of the work that the packet came of.
 */
export function hashTraceId(runId: string, taskId: string): string {
  return hashParts(['task', runId, taskId], 16);
}

/** Span of the packet with this id. */
export function hashSpanId(runId: string, packetId: string): string {
  return hashParts(['packet', runId, packetId], 8);
}

/** Span of something else of the run: `run`, or the nth exchange of an agent with a model. */
export function hashOtherSpanId(runId: string, ...what: readonly string[]): string {
  return hashParts(['other', runId, ...what], 8);
}

interface PacketOfRun {
  readonly runId: string;
  readonly taskId: string;
  readonly packetId: string;
}

/** `traceparent` of what a packet causes. */
export function formatTraceparent({ runId, taskId, packetId }: PacketOfRun): string {
  return `00-${hashTraceId(runId, taskId)}-${hashSpanId(runId, packetId)}-01`;
}

/** The first bytes of SHA-256 over the compact JSON of a list of texts, in hexadecimal. */
function hashParts(of: readonly string[], bytes: number): string {
  return createHash('sha256')
    .update(JSON.stringify(of))
    .digest('hex')
    .slice(0, 2 * bytes);
}
