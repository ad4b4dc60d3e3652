import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { Packet } from '@gaia-mesh/core/contracts/packet.ts';
import { LOOPBACK_HOSTS, parseForeignUrl } from '@gaia-mesh/core/system/outgoing-url.ts';
import { parseJsonText } from '@gaia-mesh/core/system/parse-json.ts';
import * as z from 'zod';
import { AwaitedAnswers, createFailure } from '../awaited-answers.ts';
import type { Inbox, StackSettings } from '../contract/stack.ts';
import { withDeadline } from '../exchange-limit.ts';
import { HttpClient } from '../http/http-client.ts';
import { listenHttp } from '../http/http-server.ts';
import { meterStack } from '../meter/metered.ts';
import { callTraits } from '../plain/call-stack.ts';
import { AnpPeer, createListener, post, respond } from './peer.ts';

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
