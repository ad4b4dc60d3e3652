import * as z from 'zod';
import type { ProtocolAdapter } from '../../../core/contracts/adapter.ts';
import { MeshError } from '../../../core/contracts/errors.ts';
import { issuesOf, type Packet } from '../../../core/contracts/packet.ts';
import type { Recording } from '../../../core/recording/recording.ts';
import { openMembers } from '../../../core/wire/members.ts';

/** What the protocols share that have no SDK here: the body of a request is the blob that the mesh sends, as it is. */

/** The two ends of a connection. */
export interface Ends {
  /** As its sender. */
  write(packet: Packet): Buffer;
  /** As somebody who hears everything and says nothing. */
  read(blob: Buffer): Packet;
}

/** No agent can have this id. */
const READER = '*reader';

export function endsOf(adapter: ProtocolAdapter, { header }: Recording): Ends {
  const ids = header.agents.map(({ id }) => id);
  const codecs = openMembers(adapter, header.run_id, [...ids, READER]);
  const codecOf = (id: string) => {
    const codec = codecs.get(id);
    if (codec === undefined) throw new Error(`${id} is no member of the recording`);
    return codec;
  };
  return {
    write: (packet) => Buffer.from(codecOf(packet.from).encode(packet)),
    read: (blob) => codecOf(READER).decode(blob),
  };
}

interface Call {
  /** The JSON-RPC request, whose id is that of a packet. */
  readonly body: Buffer;
  /** Beside `Content-Type`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What its result must have. */
  readonly result: z.ZodType;
  readonly signal: AbortSignal;
}

/**
 * Asks and reads the answer.
 *
 * @throws MeshError `packet` for another status than 200, or an answer without that id or result
 */
export async function call(url: string, id: string, { body, headers, result, signal }: Call): Promise<void> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: new Uint8Array(body),
    signal,
  });
  const text = await response.text();
  if (response.status !== 200) {
    throw new MeshError('packet', `${url}: expected status 200, came ${response.status}: ${text}`);
  }
  const schema = z.object({ jsonrpc: z.literal('2.0'), id: z.literal(id), result });
  const answer = schema.safeParse(JSON.parse(text));
  if (!answer.success) {
    throw new MeshError('packet', `${url}: not the answer to ${id}: ${issuesOf(answer.error)}`);
  }
}
