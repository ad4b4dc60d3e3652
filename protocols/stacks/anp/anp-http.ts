import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues, type Packet, shortenReason } from '@gaia-mesh/core/contracts/packet.ts';
import { LOOPBACK_HOSTS, parseForeignUrl } from '@gaia-mesh/core/system/outgoing-url.ts';
import { parseJsonText } from '@gaia-mesh/core/system/parse-json.ts';
import { anpUnordered } from '@gaia-mesh/protocols/anp.ts';
import * as z from 'zod';
import { AwaitedAnswers, createFailure } from '../awaited-answers.ts';
import type { Inbox, StackSettings } from '../contract/stack.ts';
import { withDeadline } from '../exchange-limit.ts';
import { HttpClient } from '../http/http-client.ts';
import { listenHttp, readBody, writeJson } from '../http/http-server.ts';
import { meterStack } from '../meter/metered.ts';
import { createCoder, type PacketCoder } from '../packet-coder.ts';
import { callTraits } from '../plain/call-stack.ts';

const NAME = 'anp/http';

/** Path at which clients register their endpoint, which a DID document's `serviceEndpoint` would hold. */
const PEERS = '/peers';
/** Path at which a client listens for answers. */
const AGENT = '/agent';
/** Maximum number of one server's clients. A comparison has a few dozen agents. */
const MAX_PEERS = 256;
const peerSchema = z.strictObject({
  endpoint: z.string().refine(isOnThisMachine, 'must be on this machine'),
});

/**
 * Returns true for this machine: clients of a comparison run beside the server, and a message must not make
 * it call another host.
 */
function isOnThisMachine(endpoint: string): boolean {
  return LOOPBACK_HOSTS.includes(parseForeignUrl(endpoint)?.hostname ?? '');
}
const pathSchema = z.strictObject({ path: z.string() });

/**
 * Agent Network Protocol 1.2 over HTTP: `direct.send` with origin proofs, accepted at once. An answer is a
 * message of its own, which the server sends to the client's endpoint, so both ends listen. The stack does
 * not authenticate the hop as well (P3 §9.4), and without TLS it deviates from ANP, which allows no HTTP
 * without TLS (P1 §4.2).
 */
export const anpHttp = meterStack({
  name: NAME,
  protocol: 'anp',
  transport: 'http1',
  implementation: 'bare',
  traits: { ...callTraits, replies: 'own exchange' },
  async serve(inbox, settings) {
    const peers = new Map<string, ServedPeer>();
    const over = new AbortController();
    const server = await listenHttp(
      createListener((path, body, response) => {
        if (path === PEERS)
          return respond(response, 200, JSON.stringify({ path: addPeer(peers, body, settings) }));
        const peer = peers.get(path.replace(/\/did$/, ''));
        if (peer === undefined) throw new MeshError('packet', `${NAME}: no client has the path ${path}`);
        if (path.endsWith('/did')) {
          peer.anp.learn(body);
          return respond(response, 200, '{}');
        }
        return peer.anp.receive(body, response, (packet) => void answer(packet, inbox, peer, over.signal));
      }),
      settings,
    );
    return {
      address: server.url,
      port: server.port,
      async close() {
        over.abort();
        for (const { http } of peers.values()) http.close();
        await server.close();
      },
    };
  },
  async connect(address, settings) {
    const awaited = new AwaitedAnswers(NAME);
    const anp = new AnpPeer();
    const own = await listenHttp(
      createListener((path, body, response) => {
        if (path !== `${AGENT}/did`) return anp.receive(body, response, (packet) => awaited.take(packet));
        anp.learn(body);
        return respond(response, 200, '{}');
      }),
      settings,
    );
    const http = new HttpClient(address, settings);
    const close = async () => {
      http.close();
      await own.close();
    };
    const { deadlineMs } = settings;
    try {
      const endpoint = JSON.stringify({ endpoint: own.url });
      const { text } = await post(http, PEERS, endpoint, AbortSignal.timeout(deadlineMs));
      const { path } = pathSchema.parse(parseJsonText(text));
      return {
        port: own.port,
        exchange: (packet, caller, answers = 1) =>
          withDeadline({ signal: caller, deadlineMs, what: `${NAME}: ${packet.id}` }, (signal) =>
            awaited.to(packet, answers, signal, () => anp.send(packet, http, path, signal)),
          ),
        close,
      };
    } catch (error) {
      await close();
      throw error;
    }
  },
});

interface ServedPeer {
  readonly anp: AnpPeer;
  /** Client of the endpoint on which the stack's client listens. */
  readonly http: HttpClient;
}

function addPeer(peers: Map<string, ServedPeer>, body: Buffer, settings: StackSettings): string {
  if (peers.size === MAX_PEERS)
    throw new MeshError('limit', `${NAME}: expected at most ${MAX_PEERS} clients`);
  const { endpoint } = peerSchema.parse(parseJsonText(body.toString()));
  const path = `${PEERS}/${peers.size + 1}`;
  peers.set(path, { anp: new AnpPeer(), http: new HttpClient(endpoint, settings) });
  return path;
}

/** Sends each answer as a message; a failure is one, too, since the request was accepted long before. */
async function answer(
  packet: Packet,
  inbox: Inbox,
  { anp, http }: ServedPeer,
  signal: AbortSignal,
): Promise<void> {
  const send = (reply: Packet) =>
    anp.send({ ...reply, reply_to: reply.reply_to ?? packet.id }, http, AGENT, signal);
  try {
    for (const reply of await inbox(packet, signal)) await send(reply);
  } catch (error) {
    // A client that has gone needs no report.
    if (!signal.aborted) await send(createFailure(packet, error)).catch(() => undefined);
  }
}

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
class AnpPeer {
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
async function post(http: HttpClient, path: string, body: string, signal: AbortSignal) {
  const headers = { 'Content-Type': 'application/json' };
  const answer = await http.fetch({ method: 'POST', path, headers, body, signal });
  if (answer.status === 200) return answer;
  throw new MeshError(
    'agent',
    `ANP: ${path}: expected status 200, received ${answer.status}: ${answer.text}`,
  );
}

function respond(response: ServerResponse, status: number, body: string): void {
  if (!response.destroyed) writeJson(response, status, body);
}

/** Creates a listener that answers with `serve`, and with status 400 and the reason if it throws. */
function createListener(
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
