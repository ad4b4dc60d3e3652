import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { ModelExchange } from './engine.ts';
import { isJsonObject, type JsonObject } from './packet.ts';
import { PROMPT_KINDS, tokenCountsSchema } from './prompt-part.ts';

/**
 * File in an agent's workspace that holds its exchanges with models ({@link exchangeLineSchema}), including
 * the documents and answers in their prompts.
 */
export const EXCHANGES_FILE = 'exchanges.log';

const tokens = z.int().nonnegative().nullable();
const digest = z.string().max(24);
const object = z.custom<JsonObject>(isJsonObject);
/** A tool call as the file keeps it. */
const toolCallSchema = z.object({
  id: z.string(),
  name: z.string(),
  arguments: z.union([z.string(), object]),
});

/** A message by the digests of its texts, which stand on earlier lines. */
const messageLineSchema = z.object({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  parts: z.array(z.tuple([z.enum(PROMPT_KINDS), digest])),
  tool_calls: z.array(toolCallSchema).optional(),
  tool_call_id: z.string().optional(),
  name: z.string().optional(),
  /** Digests of its images, which are not kept. */
  images: z.array(digest).optional(),
});

const exchangeSchema = z.object({
  task_id: z.string(),
  role: z.string(),
  packet_type: z.string(),
  key: digest,
  model: z.string(),
  messages: z.array(messageLineSchema),
  tools: digest.optional(),
  schema: digest.optional(),
  reply: z.object({
    content: z.string(),
    reasoning: z.string().optional(),
    tool_calls: z.array(toolCallSchema),
    finish: z.enum(['stop', 'length', 'tool_calls', 'filtered']),
  }),
  prompt_tokens: tokens,
  completion_tokens: tokens,
  counts: tokenCountsSchema.optional(),
  /** Optional, because an engine that the user wrote may leave them out. */
  started_us: z.number().nonnegative().optional(),
  ended_us: z.number().nonnegative().optional(),
});
export type ExchangeLine = z.infer<typeof exchangeSchema>;

/** A recorded reply of a model, with the key of the request that it answers. */
export const recordedReplySchema = exchangeSchema.pick({
  key: true,
  role: true,
  model: true,
  reply: true,
  prompt_tokens: true,
  completion_tokens: true,
  counts: true,
});
export type RecordedReply = z.infer<typeof recordedReplySchema>;

/**
 * A line of {@link EXCHANGES_FILE}: either a text that prompts of a task contain, written once per task, or
 * an exchange whose messages refer to such texts. A conversation of thirty turns, each of which repeats all
 * earlier ones, is therefore stored once.
 */
export const exchangeLineSchema = z.union([
  z.object({ task_id: z.string(), digest, text: z.string() }),
  exchangeSchema,
]);

/**
 * Returns the key of a request: equal messages, tools and schema give the same key, whatever the model and
 * the known parts.
 */
export function hashRequest({
  messages,
  tools,
  schema,
}: Pick<ModelExchange, 'messages' | 'tools' | 'schema'>): string {
  const asked = messages.map((message) => {
    const { role, content } = message;
    if (message.role === 'assistant') return { role, content, calls: message.toolCalls ?? [] };
    if (message.role === 'tool') return { role, content, call: message.toolCallId, name: message.name };
    const images = message.role === 'user' ? (message.images ?? []) : [];
    return {
      role,
      content,
      images: images.length === 0 ? undefined : images.map(({ base64 }) => hashText(base64)),
    };
  });
  return hashText(JSON.stringify([asked, tools, schema ?? null]));
}

/** Returns 96 bits of SHA-256 in base64url. */
export function hashText(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}
