import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { ModelExchange } from './engine.ts';
import { isJsonObject, type JsonObject } from './packet.ts';
import { PROMPT_KINDS } from './prompt-part.ts';

/** Every exchange of an agent with a model, in its workspace: {@link exchangeLineSchema}. It holds what prompts hold: documents and answers. */
export const EXCHANGES_FILE = 'exchanges.log';

const tokens = z.int().nonnegative().nullable();
const digest = z.string().max(24);
const object = z.custom<JsonObject>(isJsonObject);
/** A call as it is kept. */
export const toolCallSchema = z.object({
  id: z.string(),
  name: z.string(),
  arguments: z.union([z.string(), object]),
});

/** A message by the digests of its texts, which stand in lines before it. */
const messageLineSchema = z.object({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  parts: z.array(z.tuple([z.enum(PROMPT_KINDS), digest])),
  tool_calls: z.array(toolCallSchema).exactOptional(),
  tool_call_id: z.string().exactOptional(),
  name: z.string().exactOptional(),
  /** Digests of its images, which are not kept. */
  images: z.array(digest).exactOptional(),
});
export type MessageLine = z.infer<typeof messageLineSchema>;

/**
 * A line of {@link EXCHANGES_FILE}: a text that prompts of a task hold, once a task; or an exchange, whose messages name such texts. So a
 * conversation of thirty turns, each of which sends all before it again, is kept once.
 */
export const exchangeLineSchema = z.union([
  z.object({ task_id: z.string(), digest, text: z.string() }),
  z.object({
    task_id: z.string(),
    role: z.string(),
    packet_type: z.string(),
    key: digest,
    model: z.string(),
    messages: z.array(messageLineSchema),
    tools: digest.exactOptional(),
    schema: digest.exactOptional(),
    reply: z.object({
      content: z.string(),
      reasoning: z.string().exactOptional(),
      tool_calls: z.array(toolCallSchema),
      finish: z.enum(['stop', 'length', 'tool_calls', 'filtered']),
    }),
    prompt_tokens: tokens,
    completion_tokens: tokens,
    /** Engines of the user's may leave these out. */
    started_us: z.number().nonnegative().exactOptional(),
    ended_us: z.number().nonnegative().exactOptional(),
  }),
]);
export type ExchangeLine = Extract<z.infer<typeof exchangeLineSchema>, { key: string }>;

/** What names a request: the same messages, tools and schema have the same key, whatever the model and whatever is known of their parts. */
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
      ...(images.length === 0 ? {} : { images: images.map(({ base64 }) => hashText(base64)) }),
    };
  });
  return hashText(JSON.stringify([asked, tools, schema ?? null]));
}

/** 96 bits of SHA-256. */
export function hashText(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}
