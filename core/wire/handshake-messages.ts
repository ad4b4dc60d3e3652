import * as z from 'zod';
import { MeshError, toErrorMessage } from '../contracts/errors.ts';
import { DELIVERY_LIMITS } from '../contracts/limits.ts';
import { formatIssues, HEAD_LENGTHS, type JsonValue, nodeIdSchema } from '../contracts/packet.ts';
import { parseJsonText } from '../system/parse-json.ts';
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
export type AgentDelivery = z.infer<typeof agentDeliverySchema>;

export const helloSchema = z.strictObject({
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

export const welcomeSchema = z.strictObject({
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

export const beginSchema = z.strictObject({
  kind: z.literal('begin'),
  proof: z.string().max(64),
  max_frame: z.int().positive(),
  offers: z.record(nodeIdSchema, offerSchema).optional(),
});

export const readySchema = z.strictObject({ kind: z.literal('ready') });
const refuseSchema = z.object({ kind: z.literal('refuse'), message: z.string().max(2048) });

export type Hello = z.infer<typeof helloSchema>;

/** Offers of all members, by node id. */
export type Offers = Readonly<Record<string, JsonValue>>;

type Message = z.infer<typeof helloSchema | typeof welcomeSchema | typeof beginSchema | typeof readySchema>;

/** Sends a message as JSON in a frame. */
export function send(socket: FrameLink, message: Readonly<Message>): void {
  socket.sendBlob(Buffer.from(JSON.stringify(message)));
}

/** Sends the reason in a `refuse`, ends the connection, and throws the same reason. */
export function refuse(socket: FrameLink, message: string): never {
  socket.sendBlob(Buffer.from(JSON.stringify({ kind: 'refuse', message })));
  socket.end();
  throw new MeshError('handshake', message);
}

/**
 * @throws MeshError `handshake` for a refusal or an invalid message; `frame` or `io` when the connection
 * fails
 */
export async function receive<T>(socket: FrameLink, schema: z.ZodType<T>, timeoutMs: number): Promise<T> {
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
