import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues, type Packet, shortenReason } from '@gaia-mesh/core/contracts/packet.ts';
import { parseJsonText } from '@gaia-mesh/core/system/parse-json.ts';
import { anpUnordered } from '@gaia-mesh/protocols/anp.ts';
import * as z from 'zod';
import type { HttpClient } from '../http/http-client.ts';
import { readBody, writeJson } from '../http/http-server.ts';
import { createCoder, type PacketCoder } from '../packet-coder.ts';

const requestSchema = z.object({
  params: z.object({ meta: z.object({ operation_id: z.string(), target: z.object({ did: z.string() }) }) }),
});

const answerSchema = z.union([
  z.object({
    jsonrpc: z.literal('2.0'),
    id: z.string(),
    result: z.object({
      accepted: z.literal(true),
      message_id: z.string(),
      operation_id: z.string(),
      target_did: z.string(),
      accepted_at: z.iso.datetime(),
    }),
  }),
  z.object({ jsonrpc: z.literal('2.0'), error: z.object({ code: z.int(), message: z.string() }) }),
]);

/** JSON-RPC 2.0, §5.1. */
const INTERNAL_ERROR = -32603;

/** Maximum time to send documents of a few kilobytes to a process on this machine. */
const SEND_TIMEOUT_MS = 10_000;

/**
 * One end's exchange of DID documents with the other: the documents of all members whose messages pass
 * between them. They replace a resolver of DIDs, which ANP queries on the web: each document is posted to
 * `/did` before the first message from or to its member.
 */
export class AnpPeer {
  readonly #coder: PacketCoder = createCoder(anpUnordered);
  readonly #unsentDocuments: Uint8Array[] = [];
  #sending: Promise<void> = Promise.resolve();

  /**
   * Sends a packet by `direct.send` (P3 §7.1) to the other end, which accepts the message or refuses it.
   *
   * @throws MeshError `packet` for an answer that ANP does not allow, `agent` for a refusal
   */
  async send(packet: Packet, http: HttpClient, path: string, signal: AbortSignal): Promise<void> {
    const messages = this.#coder.encode(packet);
    const [last] = messages.slice(-1);
    this.#unsentDocuments.push(...messages.slice(0, -1));
    // A message must not arrive before the documents that it needs.
    if (this.#unsentDocuments.length > 0) await this.#sendDocuments(http, path);
    const { text } = await post(http, path, Buffer.from(last ?? '').toString(), signal);
    const answer = answerSchema.safeParse(parseJsonText(text));
    if (!answer.success) {
      throw new MeshError('packet', `ANP: not the answer to ${packet.id}: ${formatIssues(answer.error)}`);
    }
    if ('error' in answer.data) throw new MeshError('agent', `ANP: ${answer.data.error.message}`);
    if (answer.data.id !== packet.id) {
      throw new MeshError(
        'packet',
        `ANP: expected the answer to ${packet.id}, received that to ${answer.data.id}`,
      );
    }
  }

  /** Reads the documents in `body`. */
  learn(body: Buffer): void {
    this.#coder.decode(body);
  }

  /** Reads a message with its origin proof, has `accept` begin with it, and reports the acceptance. */
  async receive(body: Buffer, response: ServerResponse, accept: (packet: Packet) => void): Promise<void> {
    let answer: unknown;
    try {
      const packet = this.#coder.decode(body);
      if (packet === undefined) throw new MeshError('packet', 'expected a message, received documents');
      const { operation_id, target } = requestSchema.parse(parseJsonText(body.toString())).params.meta;
      accept(packet);
      const accepted_at = new Date().toISOString();
      const result = {
        accepted: true,
        message_id: packet.id,
        operation_id,
        target_did: target.did,
        accepted_at,
      };
      answer = { jsonrpc: '2.0', id: packet.id, result };
    } catch (error) {
      answer = {
        jsonrpc: '2.0',
        id: null,
        error: { code: INTERNAL_ERROR, message: shortenReason(toErrorMessage(error)) },
      };
    }
    respond(response, 200, JSON.stringify(answer));
  }

  /** Sends documents one after the other, even if the caller gives up meanwhile, since other messages need them, too. */
  #sendDocuments(http: HttpClient, path: string): Promise<void> {
    const next = async () => {
      for (let [first] = this.#unsentDocuments; first !== undefined; [first] = this.#unsentDocuments) {
        const text = Buffer.from(first).toString();
        await post(http, `${path}/did`, text, AbortSignal.timeout(SEND_TIMEOUT_MS));
        this.#unsentDocuments.shift();
      }
    };
    // Documents that an earlier attempt could not send are still in the queue.
    this.#sending = this.#sending.then(next, next);
    return this.#sending;
  }
}

/** Posts a body. @throws MeshError `agent` for another status than 200 */
export async function post(http: HttpClient, path: string, body: string, signal: AbortSignal) {
  const headers = { 'Content-Type': 'application/json' };
  const answer = await http.fetch({ method: 'POST', path, headers, body, signal });
  if (answer.status === 200) return answer;
  throw new MeshError(
    'agent',
    `ANP: ${path}: expected status 200, received ${answer.status}: ${answer.text}`,
  );
}

export function respond(response: ServerResponse, status: number, body: string): void {
  if (!response.destroyed) writeJson(response, status, body);
}

/** Creates a listener that answers with `serve`, and with status 400 and the reason if it throws. */
export function createListener(
  serve: (path: string, body: Buffer, response: ServerResponse) => Promise<void> | void,
): RequestListener {
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    try {
      await serve(request.url ?? '', await readBody(request), response);
    } catch (error) {
      respond(response, 400, JSON.stringify(shortenReason(toErrorMessage(error))));
    }
  };
  return (request, response) => void answer(request, response);
}
