import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { KEPT_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { formatIssues, shortenReason } from '@gaia-mesh/core/contracts/packet.ts';
import { KeptBytes } from '@gaia-mesh/core/system/kept-bytes.ts';
import { LOOPBACK_HOSTS, type UrlPolicy } from '@gaia-mesh/core/system/outgoing-url.ts';
import { packageVersion } from '@gaia-mesh/core/system/package-root.ts';
import { isSameSecret } from '@gaia-mesh/core/system/same-secret.ts';
import { A2aAgent } from '@gaia-mesh/stacks/a2a/agent/agent.ts';
import { answerA2a, formatCard } from '@gaia-mesh/stacks/a2a/bare/http-server.ts';
import { legacy } from '@gaia-mesh/stacks/a2a/bare/legacy.ts';
import { type AgentCard, type AgentInterface, CARD_PATH, PATHS } from '@gaia-mesh/stacks/a2a/card.ts';
import type { AgentWork } from '@gaia-mesh/stacks/a2a/work.ts';
import { listenHttp, readPath, toUrlHost, writeRefusal } from '@gaia-mesh/stacks/http/http-server.ts';
import { Admission } from '@gaia-mesh/stacks/listen.ts';
import { MCP_PATH } from '@gaia-mesh/stacks/mcp/revision.ts';
import { serveMcpHttp } from '@gaia-mesh/stacks/mcp/server/http.ts';
import { LegacySessions } from '@gaia-mesh/stacks/mcp/server/legacy.ts';
import { McpServer } from '@gaia-mesh/stacks/mcp/server/mcp-server.ts';
import type { McpTool, ToolResult } from '@gaia-mesh/stacks/mcp/tools.ts';
import { answerSchema, askSchema } from './ask.ts';
import { askWork, buildTeamCard } from './ask-work.ts';
import type { ServeOptions, ServePlan } from './serve-plan.ts';
import type { ServedTeam } from './served-team.ts';

interface Refused {
  readonly status: 401 | 403;
  readonly reason: string;
}

/**
 * Decides which requests are allowed: those that use one of this server's names, do not come from a page of another site, and
 * have the token.
 */
class Guard {
  readonly #names: ReadonlySet<string>;
  readonly #token: string | undefined;

  /** @param token undefined if everybody who reaches the server may ask */
  constructor(host: string, token: string | undefined) {
    this.#names = new Set([...LOOPBACK_HOSTS, toUrlHost(host).toLowerCase()]);
    this.#token = token;
  }

  /** Refuses requests of a browser that was led here by a foreign name resolving to this server, or by a page of another site. */
  refusedPlace(headers: IncomingHttpHeaders): Refused | undefined {
    const { host = '', origin } = headers;
    if (!this.#isOwn(host)) return { status: 403, reason: `not a name of this server: ${host.slice(0, 64)}` };
    const from = origin === undefined ? undefined : URL.parse(origin)?.host;
    if (origin !== undefined && (from === undefined || !this.#isOwn(from)))
      return { status: 403, reason: `not an origin of this server: ${origin.slice(0, 64)}` };
    // A browser names no origin in some requests for a page of another site, such as those for images.
    if (headers['sec-fetch-site'] === 'cross-site')
      return { status: 403, reason: 'not a page of this server' };
    return undefined;
  }

  refused(headers: IncomingHttpHeaders): Refused | undefined {
    const place = this.refusedPlace(headers);
    if (place !== undefined || this.#token === undefined) return place;
    const given = /^Bearer (.+)$/i.exec(headers.authorization ?? '')?.[1];
    if (given === undefined)
      return {
        status: 401,
        reason: 'expected the header Authorization: Bearer <token>, as serve printed it',
      };
    return isSameSecret(given.trim(), this.#token)
      ? undefined
      : { status: 401, reason: 'this is not the token of this server' };
  }

  #isOwn(host: string): boolean {
    return this.#names.has(host.toLowerCase().replace(/:\d+$/, ''));
  }
}

/** The addresses of a served team. */
export interface Serving {
  readonly url: string;
  readonly mcp?: string | undefined;
  readonly card?: string | undefined;
  close(): Promise<void>;
}

/** Maximum A2A tasks that clients can still query; the oldest go earlier if they are large. */
const MAX_KEPT_TASKS = 200;
/** Address of a card in A2A 0.3. */
const OLD_CARD_PATH = '/.well-known/agent.json';
const CARD_PATHS = [CARD_PATH, OLD_CARD_PATH];
/** Maximum bytes around a question and a document in a request. */
const ENVELOPE_BYTES = 64 * 1024;
/** Maximum bytes of one byte of a text in JSON: `\u0000` stands for a control character. */
const MAX_ESCAPE_BYTES = 6;

const SETTINGS = { tls: null, connections: 4, keepAliveMs: 5_000 };

/** Creates the tool of an MCP server that asks the team. */
export function askTool(served: Pick<ServedTeam, 'ask' | 'name'>, description: string): McpTool {
  return {
    name: 'ask',
    description,
    inputSchema: askSchema,
    outputSchema: answerSchema,
    async call(args, { signal, progress }) {
      const { success, data, error } = askSchema.safeParse(args);
      if (!success) return createFailure(`arguments: ${formatIssues(error)}`);
      // Progress is reported in order, and a client that does not read it delays only itself.
      let told = Promise.resolve();
      try {
        const answer = await served.ask(data, signal, (words, packets) => {
          told = told.then(() => progress(packets, undefined, words)).catch(() => undefined);
        });
        await told;
        if (answer.status !== 'answered')
          return {
            ...createFailure(`${answer.status}: ${answer.reason ?? 'no answer'}`),
            structuredContent: answer,
          };
        return { content: [{ type: 'text', text: answer.answer ?? '' }], structuredContent: answer };
      } catch (cause) {
        return createFailure(shortenReason(toErrorMessage(cause)));
      }
    },
  };
}

function createFailure(text: string): ToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}

/** An MCP server, an A2A agent, or both, to be served. */
interface Offer {
  readonly mcp: McpServer | undefined;
  readonly a2a: { readonly card: AgentCard; readonly work: AgentWork } | undefined;
  /** Maximum bytes of a request's content. */
  readonly bytes: number;
}

/** Creates the MCP server and the A2A agent of a team. */
export function offerTeam(
  served: Pick<ServedTeam, 'ask' | 'name'>,
  { description, mcp, a2a, limits }: Pick<ServePlan, 'description' | 'mcp' | 'a2a' | 'limits'>,
  hasToken: boolean,
): Offer {
  const { name } = served;
  return {
    mcp:
      mcp &&
      new McpServer({
        tools: [askTool(served, description)],
        info: { name, version: packageVersion },
        instructions: `${description}. Ask it with the tool \`ask\`.`,
        takesLegacy: true,
      }),
    a2a: a2a
      ? { card: buildTeamCard(name, description, packageVersion, hasToken), work: askWork(served) }
      : undefined,
    bytes: limits.bytes,
  };
}

/** Serves over HTTP, but for an MCP server over standard input and output. Requests are authorized before their bodies are read. */
export async function serveOffer(
  offer: Offer,
  { listen: host, port, pushTo, mcp: how }: Pick<ServeOptions, 'listen' | 'port' | 'pushTo' | 'mcp'>,
  token: string | undefined,
): Promise<Serving> {
  const { a2a: offered, bytes } = offer;
  const mcp = how === 'stdio' ? undefined : offer.mcp;
  const guard = new Guard(host, token);
  const maxBodyBytes = bytes * MAX_ESCAPE_BYTES + ENVELOPE_BYTES;
  const usualBytes = 2 * bytes + ENVELOPE_BYTES;
  const kept = new KeptBytes(Math.max(KEPT_LIMITS.minBytes, KEPT_LIMITS.requests * usualBytes));
  const admission = new Admission();
  const sessions = new LegacySessions();
  const a2a =
    offered &&
    new A2aAgent(offered.card, offered.work, {
      maxTasks: MAX_KEPT_TASKS,
      maxBodyBytes,
      kept,
      mayPush: webhookPolicy(pushTo),
    });
  // If dropping finished tasks makes too little room, a request that does not end is closed.
  kept.onShortage(() => {
    admission.dropUnfinished();
    return false;
  });
  const cards = { own: '', legacy: '' };
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    const path = readPath(request);
    // The card is public: it tells clients without the token that they need one.
    const isCard = a2a !== undefined && CARD_PATHS.includes(path) && request.method === 'GET';
    const refused = isCard ? guard.refusedPlace(request.headers) : guard.refused(request.headers);
    if (refused !== undefined) return writeError(response, refused.status, refused.reason);
    const exchange = { isWhole: () => request.complete, answer: response };
    const card = legacy.isVersion(request.headers['a2a-version']) ? cards.legacy : cards.own;
    // A request for the card proves no token, so its connection is closed.
    if (isCard) response.setHeader('Connection', 'close').setHeader('Vary', 'A2A-Version');
    else if (!admission.admit(request.socket, exchange))
      return writeError(response, 503, 'all connections are in use: try again later');
    if (a2a !== undefined && path === OLD_CARD_PATH && request.method === 'GET') {
      response.writeHead(308, { Location: CARD_PATH, 'Content-Length': 0 }).end();
    } else if (mcp !== undefined && path === MCP_PATH) {
      // Host and origin have been checked above.
      void serveMcpHttp(mcp, request, response, {
        isAllowed: () => true,
        maxBodyBytes,
        kept,
        sessions,
      });
    } else if (a2a === undefined || !answerA2a(a2a, card, request, response)) {
      const there = [...(mcp ? [MCP_PATH] : []), ...(a2a ? [CARD_PATH] : [])];
      writeError(response, 404, `nothing at this address; there is ${there.join(' and ')}`);
    }
  };
  const http = await listenHttp(listener, SETTINGS, { host, port, admission });
  if (a2a !== undefined) {
    const interfaces = (['1.0', '0.3'] as const).map((protocolVersion): AgentInterface => {
      return { url: `${http.url}${PATHS.JSONRPC}`, protocolBinding: 'JSONRPC', protocolVersion };
    });
    cards.own = formatCard(a2a.card, interfaces);
    cards.legacy = legacy.formatCard(a2a.card, interfaces);
  }
  const serving: Serving = {
    url: http.url,
    mcp: mcp && `${http.url}${MCP_PATH}`,
    card: a2a && `${http.url}${CARD_PATH}`,
    async close() {
      a2a?.close();
      await http.close();
    },
  };
  return serving;
}

/**
 * Creates the policy for webhooks. Clients must not make the server call arbitrary hosts, only this machine and the named ones.
 */
function webhookPolicy(hosts: readonly string[]): UrlPolicy {
  const allowed = new Set([...LOOPBACK_HOSTS, ...hosts.map((host) => toUrlHost(host).toLowerCase())]);
  return ({ hostname }) => allowed.has(hostname);
}

function writeError(response: ServerResponse, status: number, error: string): void {
  writeRefusal(response, status, error, status === 401 ? { 'WWW-Authenticate': 'Bearer' } : {});
}
