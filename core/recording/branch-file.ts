import * as z from 'zod';
import { recordedReplySchema } from '../contracts/model-exchange.ts';
import { isJsonObject, type JsonObject } from '../contracts/packet.ts';

const object = z.custom<JsonObject>(isJsonObject, 'must be an object');
/**
 * Position in the order in which the hub relayed the question's packets, counted from 1; 0 is before all of
 * them.
 */
const place = z.int().nonnegative();

const packetSchema = z.strictObject({
  from: z.string(),
  to: z.string().optional(),
  type: z.string(),
  tag: z.string().optional(),
  /** Digest of the payload that caused the packet: it shows to which of two requests the packet replies. */
  cause: z.string().optional(),
  payload: object,
});

/** A model reply, and the position of the packet that its agent sent next; null if it sent none. */
const branchReplySchema = recordedReplySchema.extend({ leads_to: place.nullable() });

const branchSchema = z.strictObject({
  /** Packets up to this position repeat their recorded payload. */
  keep: place,
  /** Replacement for the payload of the last of them. */
  instead: object.optional(),
});

/**
 * A recorded question and the branches in which it is asked again: a branch repeats the recording up to one
 * packet, whose payload may be replaced, and continues on its own from there.
 */
export const branchFileSchema = z.strictObject({
  branches: z.literal(1),
  packets: z.array(packetSchema),
  /** Recorded replies by agent. */
  replies: z.record(z.string(), z.array(branchReplySchema)),
  /** Branches by the id of their task. */
  tasks: z.record(z.string(), branchSchema),
});
export type BranchFile = z.infer<typeof branchFileSchema>;
export type BranchPacket = z.infer<typeof packetSchema>;
export type BranchReply = z.infer<typeof branchReplySchema>;
