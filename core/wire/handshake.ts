import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import type { AdapterSession, ProtocolAdapter } from '../contracts/adapter.ts';
import { toErrorMessage } from '../contracts/errors.ts';
import { HANDSHAKE_LIMITS } from '../contracts/limits.ts';
import { HUB_ID, type JsonValue } from '../contracts/packet.ts';
import type { FrameLink } from './frame-link.ts';
import {
  type AgentDelivery,
  ANY,
  beginSchema,
  type Hello,
  type HubDelivery,
  helloSchema,
  type Offers,
  readySchema,
  receive,
  refuse,
  send,
  welcomeSchema,
} from './handshake-messages.ts';

/**
 * Version of the handshake, in which hub and agent agree on a run before the first packet. Its messages are
 * JSON in frames, in turns:
 *
 *     hub   → agent  hello    wire, run, node, tool, adapter, auth, nonce, ticket?
 *     agent → hub    welcome  wire, node, tool, adapter, auth, nonce, proof, subscribes, emits, offer?
 *     hub   → agent  begin    proof, max_frame, offers?
 *     agent → hub    ready
 *
 * A `refuse` with a message may take the place of any of them. With a secret (`auth: hmac`) each side proves
 * that it knows it: proof = HMAC-SHA256(secret, JSON of [role, wire, run, node, tool, adapter, hub nonce,
 * agent nonce, said]), where `said` is [subscribes, emits, offer] of an agent and [max_frame, offers] of the
 * hub, with null for a missing value. Both nonces are fresh, so a recorded handshake proves nothing, and the
 * role keeps a proof from being sent back as the other side's.
 *
 * The hello's `ticket` (HMAC-SHA256(secret, JSON of ["ticket", wire, run, node, tool, adapter, nonce])) grants
 * no rights, because it could be replayed. An agent with too many connections in the handshake first closes
 * those without a ticket.
 *
 * For acknowledged delivery (`core/wire/delivery.ts`), hello and welcome each have a `delivery`: the id of the
 * last packet that the hub has from the agent, and the packets that the agent has finished. It becomes the
 * last element of `said` on both sides.
 *
 * The hub sends `begin` when every agent has sent `welcome`: offers are values that members publish to the
 * others (public keys).
 */
const WIRE_VERSION = 1;

/** Multiple of the message timeout that an agent waits for `begin`: members come up one after the other. */
const OTHERS_PATIENCE = 4;

interface HubSide {
  readonly runId: string;
  /** Id of the expected node; {@link ANY} accepts any. */
  readonly node: string;
  readonly tool: string;
  readonly adapter: string;
  /** Secret of the run; if it is empty, no proof is given or requested. */
  readonly secret: string;
  readonly maxFrameBytes: number;
  /** Takes the agent's offer and settles with the offers of all members; without it there are none. */
  readonly exchange?:
    | ((node: string, offer: JsonValue | undefined) => Promise<Offers | undefined>)
    | undefined;
  /** Set for acknowledged delivery; an agent that does not support it is refused. */
  readonly delivery?: HubDelivery | undefined;
  /** Timeout for each message of the other side; the default is {@link HANDSHAKE_LIMITS.messageMs}. */
  readonly timeoutMs?: number;
}

interface AgentSide {
  readonly node: string;
  readonly tool: string;
  /** Adapter that this agent insists on; if undefined, it takes the hub's. */
  readonly adapter: string | undefined;
  readonly secret: string;
  /** Packet types that it works on, and packet types that it sends. */
  readonly subscribes: readonly string[];
  readonly emits: readonly string[];
  /** Finds the adapter; throws with the names that this agent knows. */
  readonly resolveAdapter: (name: string) => Promise<ProtocolAdapter>;
  /**
   * Called for a hello with a valid ticket: the sender knows the secret, or has overheard a member that does.
   */
  readonly onTicket?: () => void;
  /**
   * Returns true if another hub has this agent by now: called at the last moment, so that a stranger delays
   * no hub.
   */
  readonly isBusy: () => boolean;
  /** Returns the packets it has finished in a run. An agent without this function acknowledges nothing. */
  readonly delivery?: (runId: string) => AgentDelivery;
  /**
   * Begins acknowledged delivery with a hub that has proved itself; `have` is the id of the last packet that
   * the hub has.
   */
  readonly begin?: (have: string | null) => void;
  /** Timeout for each message of the other side; the default is {@link HANDSHAKE_LIMITS.messageMs}. */
  readonly timeoutMs?: number;
}

interface Agreement {
  readonly session: AdapterSession;
  readonly maxFrameBytes: number;
}

/**
 * Runs the hub's side: proposes, and refuses an agent that is not the expected one.
 *
 * @throws MeshError `handshake`, naming both sides' values; `frame` or `io` when the connection fails
 */
export async function greetAgent(
  socket: FrameLink,
  side: HubSide,
): Promise<
  Agreement &
    Pick<AgentSide, 'node' | 'tool' | 'subscribes' | 'emits'> & {
      readonly delivery: AgentDelivery | undefined;
    }
> {
  const { timeoutMs = HANDSHAKE_LIMITS.messageMs } = side;
  const plain: Hello = {
    kind: 'hello',
    wire: WIRE_VERSION,
    run: side.runId,
    node: side.node,
    tool: side.tool,
    adapter: side.adapter,
    auth: side.secret === '' ? 'open' : 'hmac',
    nonce: randomBytes(32).toString('hex'),
    delivery: side.delivery,
  };
  const hello = side.secret === '' ? plain : { ...plain, ticket: computeTicket(side.secret, plain) };
  send(socket, hello);
  const welcome = await receive(socket, welcomeSchema, timeoutMs);
  for (const key of ['wire', 'node', 'tool', 'adapter', 'auth'] as const) {
    if (hello[key] !== welcome[key] && hello[key] !== ANY)
      refuse(socket, describeMismatch(key, hello[key], welcome[key]));
  }
  if (side.delivery !== undefined && welcome.delivery === undefined) {
    refuse(socket, `agent ${welcome.node} keeps no outbox, so it cannot have its deliveries acknowledged`);
  }
  const said = [welcome.subscribes, welcome.emits, welcome.offer ?? null, ...toProvedList(welcome.delivery)];
  if (!verifyProof(welcome.proof, computeProof(side.secret, 'agent', hello, welcome.nonce, said))) {
    refuse(
      socket,
      `agent ${welcome.node} could not prove that it knows this run's secret (GAIA_MESH_SECRET differs)`,
    );
  }
  const { maxFrameBytes } = side;
  const { node, tool } = welcome;
  const offers = await side.exchange?.(node, welcome.offer);
  // The agent may send packets right behind its last message, while others are still connecting.
  socket.expectPackets(maxFrameBytes, 1);
  send(socket, {
    kind: 'begin',
    proof: computeProof(side.secret, 'hub', hello, welcome.nonce, [
      maxFrameBytes,
      offers ?? null,
      ...toProvedList(side.delivery),
    ]),
    max_frame: maxFrameBytes,
    offers,
  });
  await receive(socket, readySchema, timeoutMs);
  const session = deriveSession(hello, side.secret, welcome.nonce, HUB_ID, node, offers);
  const { subscribes, emits, delivery } = welcome;
  return { session, maxFrameBytes, node, tool, subscribes, emits, delivery };
}

/**
 * Runs the agent's side: introduces the agent, and continues only with a hub that knows the secret.
 *
 * @throws MeshError `handshake`; `frame` or `io` when the connection fails
 */
export async function answerHub(
  socket: FrameLink,
  side: AgentSide,
): Promise<
  Agreement & {
    readonly adapter: ProtocolAdapter;
    readonly opener: Pick<ProtocolAdapter, 'open'>;
    /** The hub's delivery terms; undefined if deliveries are not acknowledged. */
    readonly delivery: HubDelivery | undefined;
  }
> {
  const { timeoutMs = HANDSHAKE_LIMITS.messageMs } = side;
  const hello = await receive(socket, helloSchema, timeoutMs);
  if (
    hello.ticket !== undefined &&
    side.secret !== '' &&
    verifyProof(hello.ticket, computeTicket(side.secret, hello))
  ) {
    side.onTicket?.();
  }
  const refuseFor = (error: unknown) => refuse(socket, `agent ${side.node}: ${toErrorMessage(error)}`);
  const name = side.adapter ?? hello.adapter;
  const adapter = await side.resolveAdapter(name).catch(refuseFor);
  const member = adapter.join?.({ runId: hello.run, self: side.node });
  const nonce = randomBytes(32).toString('hex');
  const delivery =
    hello.delivery === undefined ? undefined : orElse(() => side.delivery?.(hello.run), refuseFor);
  const said = [side.subscribes, side.emits, member?.offer ?? null, ...toProvedList(delivery)];
  send(socket, {
    kind: 'welcome',
    wire: WIRE_VERSION,
    node: side.node,
    tool: side.tool,
    adapter: name,
    auth: side.secret === '' ? 'open' : 'hmac',
    nonce,
    proof: computeProof(side.secret, 'agent', hello, nonce, said),
    subscribes: [...side.subscribes],
    emits: [...side.emits],
    offer: member?.offer,
    delivery,
  });
  // The hub waits for all other agents first.
  const begin = await receive(socket, beginSchema, OTHERS_PATIENCE * timeoutMs);
  const { max_frame: maxFrameBytes, offers } = begin;
  const hubSaid = [maxFrameBytes, offers ?? null, ...toProvedList(hello.delivery)];
  if (!verifyProof(begin.proof, computeProof(side.secret, 'hub', hello, nonce, hubSaid))) {
    refuse(socket, `the hub could not prove to agent ${side.node} that it knows this run's secret`);
  }
  if (side.isBusy()) refuse(socket, `agent ${side.node} already works for another hub`);
  const { have } = hello.delivery ?? {};
  if (have !== undefined) orElse(() => side.begin?.(have), refuseFor);
  send(socket, { kind: 'ready' });
  const session = deriveSession(hello, side.secret, nonce, side.node, HUB_ID, offers);
  return { adapter, opener: member ?? adapter, session, maxFrameBytes, delivery: hello.delivery };
}

function orElse<T>(work: () => T, refuse: (error: unknown) => never): T {
  try {
    return work();
  } catch (error) {
    return refuse(error);
  }
}

/**
 * Returns the value as a list that is empty if it is undefined: proofs then equal those of a wire without it.
 */
function toProvedList(value: unknown): unknown[] {
  return value === undefined ? [] : [value];
}

function describeMismatch(key: string, hub: string | number, agent: string | number): string {
  const hint =
    key === 'auth'
      ? ' (hmac: GAIA_MESH_SECRET is set there; open: it is not; set the same value on both sides)'
      : '';
  return `hub and agent disagree about ${key}: the hub has ${hub}, the agent has ${agent}${hint}`;
}

function deriveSession(
  hello: Hello,
  secret: string,
  agentNonce: string,
  self: string,
  peer: string,
  offers: Offers = {},
): AdapterSession {
  return {
    runId: hello.run,
    self,
    peer,
    linkKey: deriveKey(secret, Buffer.from(hello.nonce + agentNonce, 'hex'), hello.run),
    runKey: deriveRunKey(secret, hello.run),
    offers: new Map(Object.entries(offers)),
  };
}

/** Derives the key that all members of a run share; see {@link AdapterSession.runKey}. */
export function deriveRunKey(secret: string, runId: string): Uint8Array {
  return deriveKey(secret, Buffer.alloc(0), runId);
}

function deriveKey(secret: string, salt: Uint8Array, runId: string): Uint8Array {
  if (secret === '') return new Uint8Array(32);
  return new Uint8Array(hkdfSync('sha256', secret, salt, `gaia-mesh ${runId}`, 32));
}

function computeProof(
  secret: string,
  role: 'hub' | 'agent',
  { wire, run, node, tool, adapter, nonce }: Hello,
  agentNonce: string,
  said: readonly unknown[],
): string {
  if (secret === '') return '';
  return computeHmac(secret, [role, wire, run, node, tool, adapter, nonce, agentNonce, said]);
}

function computeTicket(secret: string, { wire, run, node, tool, adapter, nonce }: Hello): string {
  return computeHmac(secret, ['ticket', wire, run, node, tool, adapter, nonce]);
}

function computeHmac(secret: string, said: readonly unknown[]): string {
  return createHmac('sha256', secret).update(JSON.stringify(said)).digest('hex');
}

function verifyProof(proof: string, expected: string): boolean {
  const [came, wanted] = [Buffer.from(proof), Buffer.from(expected)];
  return came.length === wanted.length && timingSafeEqual(came, wanted);
}
