import type { IncomingMessage } from 'node:http';
import type { Packet } from '../../../core/contracts/packet.ts';

/** A protocol on the transport that it was made for: how a client asks with a packet, and what a server answers. */
export interface HttpBinding {
  /** Of the adapter that writes the same messages in the mesh. */
  readonly adapter: string;
  /** What writes the requests, for the reader. */
  readonly client: string;
  connect(url: string): Promise<Ask>;
  readonly answer: Answer;
}

/**
 * Sends a packet as one request and reads its answer to the end.
 *
 * @throws MeshError `packet` for an answer that the protocol does not allow
 */
export type Ask = (packet: Packet, signal: AbortSignal) => Promise<void>;

/** Reads a request as a server of the protocol must, and answers it. What it throws becomes HTTP status 400. */
export type Answer = (request: IncomingMessage, body: Buffer) => Promise<Reply>;

interface Reply {
  /** Written as compact JSON. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An adapter whose protocol rides on HTTP as well, and why it has no {@link HttpBinding} here. */
export interface Unavailable {
  readonly adapter: string;
  readonly why: string;
}
