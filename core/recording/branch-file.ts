import * as z from 'zod';
import { MeshError } from '../contracts/errors.ts';
import { type RecordedReply, recordedReplySchema } from '../contracts/model-exchange.ts';
import { isJsonObject, type JsonObject } from '../contracts/packet.ts';
import { parseJsonLine, tryParseJson } from '../system/json-line.ts';
import { readExchangeLogs } from './recorded-exchange.ts';

/** Maximum bytes of all exchanges of an archive; a batch of a thousand questions has some 300 MB. */
const MAX_EXCHANGES_BYTES = 512 * 1024 * 1024;

/**
 * Reads every model reply of an archived run, agent by agent in the order of arrival.
 *
 * @throws MeshError `config` for an archive that cannot be read, or whose run asked no model
 */
export async function readRecordedReplies(archive: string): Promise<RecordedReply[]> {
  const logs = await readExchangeLogs(archive, MAX_EXCHANGES_BYTES);
  const replies = [...logs.values()].flatMap((text) => text.split('\n').flatMap(parseReplyLine));
  if (replies.length > 0) return replies;
  throw new MeshError(
    'config',
    `archive ${archive}: no model was asked in this run; expected run_artifacts.tar.gz of one whose engine asks a model server`,
  );
}

function parseReplyLine(line: string): RecordedReply[] {
  const reply = recordedReplySchema.safeParse(tryParseJson(line)).data;
  // Other lines are texts, which replies do not need, or of the logger itself.
  return reply === undefined ? [] : [reply];
}

/**
 * Parses a file of replies, one JSON line each.
 *
 * @throws MeshError `config`, naming the line that is not a reply
 */
export function parseReplies(text: string, where: string): RecordedReply[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line, index) => parseJsonLine(line, recordedReplySchema, `${where}:${index + 1}`));
}

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
export type Branch = z.infer<typeof branchSchema>;
