import * as z from 'zod';
import { isJsonObject, type JsonObject } from '../contracts/packet.ts';
import { replySchema } from './recorded-replies.ts';

const object = z.custom<JsonObject>(isJsonObject, 'must be an object');
/** Counted from 1 in the order in which the hub relayed the packets of the question; 0 is before all of them. */
const place = z.int().nonnegative();

const packetSchema = z.strictObject({
  from: z.string(),
  to: z.string().exactOptional(),
  type: z.string(),
  tag: z.string().exactOptional(),
  /** Of what caused it, {@link digestOf} its payload: which of two requests a reply is to. */
  cause: z.string().exactOptional(),
  payload: object,
});

/** A reply of a model, and the packet of the agent that asked which left next: null where none did. */
const branchReplySchema = replySchema.extend({ leads_to: place.nullable() });

const branchSchema = z.strictObject({
  /** Packets up to this one say what they said. */
  keep: place,
  /** What the last of them says instead. */
  instead: object.exactOptional(),
});

/**
 * A recorded question, and the branches in which it is to be asked again: a branch goes as recorded up to one packet, of which the payload
 * may be another, and on from there by itself.
 */
export const branchFileSchema = z.strictObject({
  branches: z.literal(1),
  packets: z.array(packetSchema),
  /** By agent. */
  replies: z.record(z.string(), z.array(branchReplySchema)),
  /** By the id of their tasks. */
  tasks: z.record(z.string(), branchSchema),
});
export type BranchFile = z.infer<typeof branchFileSchema>;
export type BranchPacket = z.infer<typeof packetSchema>;
export type BranchReply = z.infer<typeof branchReplySchema>;
export type Branch = z.infer<typeof branchSchema>;
