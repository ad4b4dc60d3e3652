import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { isJsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { LOOPBACK_HOSTS, parseForeignUrl } from '@gaia-mesh/core/system/outgoing-url.ts';
import * as z from 'zod';
import { HttpClient } from '../../http/http-client.ts';
import { readBody } from '../../http/http-server.ts';
import { findDialect, HttpWire, type Operation, parseJsonBody } from '../bare/http-wire.ts';
import { CARD_PATH } from '../card.ts';
import { parseAnswer } from '../model.ts';
import { AgentReply } from './agent-reply.ts';
import { Doorbell } from './doorbell.ts';

export interface ForeignAgentEndpoint {
  /** URL of the agent's card, or of the folder above it. */
  readonly url: string;
  readonly token?: string | undefined;
  /** Delivery of results; by default a stream where the card has it, else polling. */
  readonly later?: 'stream' | 'poll' | 'push' | undefined;
  readonly maxMessageBytes: number;
}

interface AgentMessage {
  readonly parts: readonly object[];
  /** Id of a task that waits for an answer. */
  readonly taskId?: string | undefined;
  readonly contextId?: string | undefined;
  /** The trace context (W3C) of the message, in its metadata. */
  readonly traceparent?: string | undefined;
}

const cardSchema = z.looseObject({
  name: z.string().max(256).catch('unnamed'),
  description: z.string().catch(''),
  capabilities: z
    .looseObject({ streaming: z.boolean().catch(false), pushNotifications: z.boolean().catch(false) })
    .catch({ streaming: false, pushNotifications: false }),
  skills: z.array(z.looseObject({ name: z.string().catch(''), description: z.string().catch('') })).catch([]),
  supportedInterfaces: z.array(
    z.looseObject({
      url: z.string(),
      protocolBinding: z.string(),
      protocolVersion: z.string().default('1.0'),
    }),
  ),
});
type ForeignCard = z.infer<typeof cardSchema>;

const MAX_CARD_BYTES = 256 * 1024;
const CONNECT_TIMEOUT_MS = 15_000;
const CANCEL_TIMEOUT_MS = 2_000;
/** Pause between two polls of a task; each is twice as long as the previous one, up to the maximum. */
const FIRST_POLL_MS = 100;
const MAX_POLL_MS = 2_000;
/** Time after which the task is fetched without a call of the webhook, which A2A attempts only once. */
const PUSH_PATIENCE_MS = 5_000;

const HTTP_SETTINGS = { tls: null, connections: 4, keepAliveMs: 5_000 };

/** A foreign agent, by its card. Its answers are untrusted until they are checked. */
export class ForeignAgent {
  readonly card: ForeignCard;
  readonly #wire: HttpWire;
  readonly #later: NonNullable<ForeignAgentEndpoint['later']>;
  readonly #bell: Doorbell | undefined;

  private constructor(
    card: ForeignCard,
    wire: HttpWire,
    endpoint: ForeignAgentEndpoint,
    bell: Doorbell | undefined,
  ) {
    this.card = card;
    this.#wire = wire;
    this.#later = endpoint.later ?? (card.capabilities.streaming ? 'stream' : 'poll');
    this.#bell = bell;
  }

  /** @throws MeshError `agent` if the card cannot be read, `packet` or `config` for one that cannot be used */
  static async connect(endpoint: ForeignAgentEndpoint, signal: AbortSignal): Promise<ForeignAgent> {
    const url = new URL(endpoint.url);
    const both = AbortSignal.any([signal, AbortSignal.timeout(CONNECT_TIMEOUT_MS)]);
    const card = await fetchCard(url, endpoint, both);
    const { capabilities } = card;
    if (endpoint.later === 'stream' && !capabilities.streaming)
      throw new MeshError('config', `A2A: ${card.name} does not stream: omit \`later\` or set it to poll`);
    if (endpoint.later === 'push' && !capabilities.pushNotifications)
      throw new MeshError('config', `A2A: ${card.name} calls no webhooks: omit \`later\` or set it to poll`);
    const wire = openWire(chooseInterface(card, url), endpoint);
    try {
      const bell = endpoint.later === 'push' ? await Doorbell.start() : undefined;
      return new ForeignAgent(card, wire, endpoint, bell);
    } catch (error) {
      wire.close();
      throw error;
    }
  }

  /**
   * Sends a message and waits until its task is over or waits for an answer. A task that is given up is
   * cancelled.
   *
   * @throws MeshError `agent` for an agent that went away or took too long, `packet` for an answer that A2A
   * does not allow
   */
  async ask(message: AgentMessage, signal: AbortSignal): Promise<ReturnType<AgentReply['result']>> {
    const reply = new AgentReply();
    try {
      if (this.#later === 'stream') await this.#stream(message, reply, signal);
      else await this.#send(message, reply, signal);
      await this.#untilSettled(reply, signal);
      return reply.result();
    } catch (error) {
      if (reply.taskId !== '' && !reply.isOver) await this.#cancel(reply.taskId);
      if (!signal.aborted) throw error;
      throw new MeshError('agent', `A2A: ${this.card.name}: given up in state ${reply.state ?? 'unknown'}`, {
        cause: error,
      });
    }
  }

  async close(): Promise<void> {
    this.#wire.close();
    await this.#bell?.close();
  }

  async #send(message: AgentMessage, reply: AgentReply, signal: AbortSignal): Promise<void> {
    const configuration = {
      returnImmediately: true,
      historyLength: 0,
      taskPushNotificationConfig: this.#bell?.config,
    };
    const params = { message: buildUserMessage(message), configuration };
    reply.add(await this.#wire.call({ method: 'SendMessage', params }, signal));
  }

  async #stream(message: AgentMessage, reply: AgentReply, signal: AbortSignal): Promise<void> {
    const operation: Operation = {
      method: 'SendStreamingMessage',
      params: { message: buildUserMessage(message), configuration: { historyLength: 0 } },
    };
    try {
      for await (const event of this.#wire.events(operation, signal)) {
        reply.add(event);
        if (reply.isSettled) return;
      }
    } catch (error) {
      // After a broken stream the task can still be fetched; an invalid or too large answer ends the
      // exchange.
      const isBroken = !(error instanceof MeshError) || error.code === 'agent';
      if (reply.taskId === '' || !isBroken || signal.aborted) throw error;
    }
  }

  /** Fetches the task until it is settled, for everything that a stream or a webhook did not bring. */
  async #untilSettled(reply: AgentReply, signal: AbortSignal): Promise<void> {
    let pauseMs = this.#bell === undefined ? FIRST_POLL_MS : PUSH_PATIENCE_MS;
    while (!reply.isSettled) {
      if (reply.taskId === '')
        throw new MeshError('packet', 'A2A: the answer names neither a task nor a message');
      if (this.#bell === undefined) await delay(pauseMs, undefined, { signal });
      else await this.#bell.rung(pauseMs, signal);
      const params = { id: reply.taskId, historyLength: 0 };
      reply.add({ task: await this.#wire.call({ method: 'GetTask', params }, signal) });
      if (this.#bell === undefined) pauseMs = Math.min(2 * pauseMs, MAX_POLL_MS);
    }
  }

  async #cancel(id: string): Promise<void> {
    const signal = AbortSignal.timeout(CANCEL_TIMEOUT_MS);
    try {
      await this.#wire.call({ method: 'CancelTask', params: { id } }, signal);
    } catch (error) {
      // The task may have ended, or the agent may be unreachable; the caller has given up either way.
      if (!(error instanceof MeshError)) throw error;
    }
  }
}

/** The path of cards until 0.3. */
const OLD_CARD_PATH = '/.well-known/agent.json';
const MAX_REDIRECTS = 3;

/** Fetches the card at the URL itself, or below it: where it is now, then where it was. */
async function fetchCard(
  { origin, pathname, search }: URL,
  endpoint: ForeignAgentEndpoint,
  signal: AbortSignal,
): Promise<ForeignCard> {
  const below = pathname.replace(/\/$/, '');
  const paths = /\.json$/.test(pathname) ? [pathname] : [`${below}${CARD_PATH}`, `${below}${OLD_CARD_PATH}`];
  const http = new HttpClient(origin, HTTP_SETTINGS);
  const headers = buildAuthorization(endpoint);
  let status = 0;
  try {
    for (const first of paths) {
      let path = `${first}${search}`;
      for (let count = 0; count <= MAX_REDIRECTS; count++) {
        const response = await http.open({ method: 'GET', path, headers, signal });
        const text = (await readBody(response, MAX_CARD_BYTES)).toString();
        status = response.statusCode ?? 0;
        if (status === 200) return parseCard(parseJsonBody(text));
        const to =
          status > 300 && status < 400
            ? URL.parse(response.headers.location ?? '', `${origin}${path}`)
            : null;
        // The token stays with the server that the user named.
        if (to === null || to.origin !== origin) break;
        path = `${to.pathname}${to.search}`;
      }
      if (![404, 405, 410].includes(status)) break;
    }
  } finally {
    http.close();
  }
  throw new MeshError(
    'agent',
    `A2A: ${origin}${paths.join(' and ')}: expected an agent card, received status ${status}`,
  );
}

/** The interfaces of a card of 0.3: a main one, and further ones. */
const legacyCardSchema = z.looseObject({
  url: z.string(),
  protocolVersion: z.string().default('0.2'),
  preferredTransport: z.string().nullish(),
  additionalInterfaces: z.array(z.looseObject({ url: z.string(), transport: z.string() })).nullish(),
});

function parseCard(card: unknown): ForeignCard {
  const legacy = legacyCardSchema.safeParse(card);
  const isOfOne =
    isJsonObject(card) && card.supportedInterfaces !== undefined && card.supportedInterfaces !== null;
  if (isOfOne || !legacy.success) return parseAnswer(cardSchema, card, 'agent card');
  const { url, protocolVersion, preferredTransport, additionalInterfaces, ...rest } = legacy.data;
  const all = [{ url, transport: preferredTransport ?? 'JSONRPC' }, ...(additionalInterfaces ?? [])];
  const supportedInterfaces = all.map((one) => ({
    url: one.url,
    protocolBinding: one.transport,
    protocolVersion,
  }));
  return parseAnswer(cardSchema, { ...rest, supportedInterfaces }, 'agent card of A2A 0.3');
}

interface KnownInterface {
  readonly url: URL;
  readonly dialect: NonNullable<ReturnType<typeof findDialect>>;
}

/**
 * Chooses the first interface that both sides know, on the server that the user named, since a card must not
 * lead the token or the questions elsewhere.
 */
function chooseInterface({ name, supportedInterfaces }: ForeignCard, from: URL): KnownInterface {
  let elsewhere: URL | undefined;
  for (const { url, protocolBinding, protocolVersion } of supportedInterfaces) {
    const dialect = findDialect(protocolBinding, protocolVersion);
    const named = parseForeignUrl(url);
    if (dialect === undefined || named === undefined) continue;
    const own = toNamedHost(named, from);
    if (own.origin === from.origin) return { url: own, dialect };
    elsewhere ??= named;
  }
  if (elsewhere !== undefined)
    throw new MeshError(
      'config',
      `A2A: the card of ${name} leads from ${from.origin} to ${elsewhere.origin}: use that address`,
    );
  const came = supportedInterfaces
    .map((each) => `${each.protocolBinding} ${each.protocolVersion}`)
    .join(', ');
  throw new MeshError(
    'config',
    `A2A: ${name}: expected JSONRPC or HTTP+JSON 1.0, or JSONRPC 0.3, received ${came.slice(0, 200) || 'none'}`,
  );
}

/** Names of the machine itself, which a card holds where its agent does not know its own name. */
const OWN_NAMES: ReadonlySet<string> = new Set([...LOOPBACK_HOSTS, '0.0.0.0', '[::]']);

/** Replaces the host by the one that the user named, if the card names only the agent's own machine. */
function toNamedHost(url: URL, from: URL): URL {
  if (!OWN_NAMES.has(url.hostname)) return url;
  const own = new URL(url);
  own.hostname = from.hostname;
  return own;
}

function openWire({ url, dialect }: KnownInterface, endpoint: ForeignAgentEndpoint): HttpWire {
  const http = new HttpClient(url.origin, HTTP_SETTINGS);
  const root = `${url.pathname}${url.search}`;
  return new HttpWire(http, root, dialect, buildAuthorization(endpoint), endpoint.maxMessageBytes);
}

function buildUserMessage({ parts, taskId, contextId, traceparent }: AgentMessage): object {
  return {
    messageId: randomUUID(),
    role: 'ROLE_USER',
    parts,
    taskId,
    contextId,
    metadata: traceparent === undefined ? undefined : { traceparent },
  };
}

function buildAuthorization({ token }: ForeignAgentEndpoint): Record<string, string> {
  return token === undefined ? {} : { Authorization: `Bearer ${token}` };
}
