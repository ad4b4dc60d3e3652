import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import * as z from 'zod';
import type { AdapterSession, ProtocolAdapter } from '../contracts/adapter.ts';
import { MeshError, toErrorMessage } from '../contracts/errors.ts';
import { DELIVERY_LIMITS, HANDSHAKE_LIMITS } from '../contracts/limits.ts';
import { formatIssues, HEAD_LENGTHS, HUB_ID, type JsonValue, nodeIdSchema } from '../contracts/packet.ts';
import { parseJsonText } from '../system/parse-json.ts';
import { isSameSecret } from '../system/same-secret.ts';
import type { FrameLink } from './frame-link.ts';

const nonceSchema = z.string().regex(/^[0-9a-f]{64}$/);
const authSchema = z.enum(['hmac', 'open']);

/** Wildcard of a hello: the hub accepts any node and tool. */
export const ANY = '*';

const offerSchema: z.ZodType<JsonValue> = z.json();
const packetTypesSchema = z.array(z.string().min(1).max(64)).max(64);

const packetIdSchema = z.string().min(1).max(HEAD_LENGTHS.id);
const hubDeliverySchema = z.strictObject({
  mode: z.literal('acknowledged'),
  have: packetIdSchema.nullable(),
  /** Set if deliveries may get lost on request: the agent then reports which packets it has. */
  lossy: z.literal(true).optional(),
});
const agentDeliverySchema = z.strictObject({ done: z.array(packetIdSchema).max(DELIVERY_LIMITS.window) });
export type HubDelivery = z.infer<typeof hubDeliverySchema>;
type AgentDelivery = z.infer<typeof agentDeliverySchema>;

const helloSchema = z.strictObject({
  kind: z.literal('hello'),
  wire: z.int(),
  run: z.string().min(1).max(128),
  node: z.union([nodeIdSchema, z.literal(ANY)]),
  tool: z.string().min(1).max(64),
  adapter: z.string().min(1).max(256),
  auth: authSchema,
  nonce: nonceSchema,
  ticket: z.string().max(64).optional(),
  delivery: hubDeliverySchema.optional(),
});

const welcomeSchema = z.strictObject({
  kind: z.literal('welcome'),
  wire: z.int(),
  node: nodeIdSchema,
  tool: z.string().min(1).max(64),
  adapter: z.string().min(1).max(256),
  auth: authSchema,
  nonce: nonceSchema,
  proof: z.string().max(64),
  subscribes: packetTypesSchema,
  emits: packetTypesSchema,
  offer: offerSchema.optional(),
  delivery: agentDeliverySchema.optional(),
});

const beginSchema = z.strictObject({
  kind: z.literal('begin'),
  proof: z.string().max(64),
  max_frame: z.int().positive(),
  offers: z.record(nodeIdSchema, offerSchema).optional(),
});

const readySchema = z.strictObject({ kind: z.literal('ready') });
const refuseSchema = z.object({ kind: z.literal('refuse'), message: z.string().max(2048) });

type Hello = z.infer<typeof helloSchema>;

/** Offers of all members, by node id. */
export type Offers = Readonly<Record<string, JsonValue>>;

type Message = z.infer<typeof helloSchema | typeof welcomeSchema | typeof beginSchema | typeof readySchema>;

/** Sends a message as JSON in a frame. */
function send(socket: FrameLink, message: Readonly<Message>): void {
  socket.sendBlob(Buffer.from(JSON.stringify(message)));
}

/** Sends the reason in a `refuse`, ends the connection, and throws the same reason. */
function refuse(socket: FrameLink, message: string): never {
  socket.sendBlob(Buffer.from(JSON.stringify({ kind: 'refuse', message })));
  socket.end();
  throw new MeshError('handshake', message);
}

/**
 * @throws MeshError `handshake` for a refusal or an invalid message; `frame` or `io` when the connection
 * fails
 */
async function receive<T>(socket: FrameLink, schema: z.ZodType<T>, timeoutMs: number): Promise<T> {
  const blob = await socket.nextBlob(timeoutMs);
  let value: unknown;
  try {
    value = parseJsonText(blob.toString('utf8'));
  } catch (error) {
    throw new MeshError('handshake', `the other end does not speak the handshake: ${toErrorMessage(error)}`, {
      cause: error,
    });
  }
  const refusal = refuseSchema.safeParse(value);
  if (refusal.success) throw new MeshError('handshake', `the other end refused: ${refusal.data.message}`);
  const result = schema.safeParse(value);
  if (!result.success)
    throw new MeshError('handshake', `unexpected handshake message: ${formatIssues(result.error)}`);
  return result.data;
}

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
 * For acknowledged delivery (`core/hub/delivery/acknowledged.ts`), hello and welcome each have a `delivery`: the id of the
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
  if (!isSameSecret(welcome.proof, computeProof(side.secret, 'agent', hello, welcome.nonce, said))) {
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
    isSameSecret(hello.ticket, computeTicket(side.secret, hello))
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
  if (!isSameSecret(begin.proof, computeProof(side.secret, 'hub', hello, nonce, hubSaid))) {
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
