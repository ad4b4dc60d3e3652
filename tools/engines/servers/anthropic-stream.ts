import * as z from 'zod';
import { MAX_BODY_BYTES, readWhole } from '../http/body.ts';
import { END_OF_EVENTS, isEventStream, readEvents } from '../http/events.ts';
import { toReplyFailure } from '../http/exchange.ts';

const usageSchema = z.record(z.string(), z.unknown());
const at = z.int().nonnegative();

const eventSchema = z.union([
  z.object({ type: z.literal('message_start'), message: z.object({ usage: usageSchema.nullish() }) }),
  z.object({
    type: z.literal('content_block_start'),
    index: at,
    content_block: z.looseObject({ type: z.string() }),
  }),
  z.object({
    type: z.literal('content_block_delta'),
    index: at,
    delta: z.object({
      text: z.string().optional(),
      thinking: z.string().optional(),
      partial_json: z.string().optional(),
    }),
  }),
  z.object({
    type: z.literal('message_delta'),
    delta: z.object({ stop_reason: z.string().nullish() }),
    usage: usageSchema.nullish(),
  }),
  z.object({ type: z.enum(['message_stop', 'error']) }),
  // Pings, and future events.
  z.object({ type: z.string() }).transform(() => ({ type: 'other' as const })),
]);

interface Block {
  readonly start: Readonly<Record<string, unknown>>;
  text: string;
  json: string;
}

/**
 * Returns a reply as one JSON value, whether the server streams it (`message_start` … `message_stop`) or sends it whole.
 *
 * @throws Error for a stream that ends before the reply does
 */
export async function readMessage(response: Response): Promise<Response> {
  if (!isEventStream(response)) return readWhole(response);
  const blocks = new Map<number, Block>();
  let stopReason: string | undefined;
  let usage: Record<string, unknown> | undefined;
  let isWhole = false;
  let characters = 0;
  for await (const received of readEvents(response)) {
    if (received === END_OF_EVENTS) break;
    const event = eventSchema.parse(received);
    if (event.type === 'error') throw toReplyFailure(received);
    if (event.type === 'message_stop') {
      isWhole = true;
      break;
    }
    if (event.type === 'message_start') usage = { ...usage, ...event.message.usage };
    if (event.type === 'content_block_start')
      blocks.set(event.index, { start: event.content_block, text: '', json: '' });
    if (event.type === 'content_block_delta') {
      const block = blocks.get(event.index);
      const { text = '', thinking = '', partial_json = '' } = event.delta;
      characters += text.length + thinking.length + partial_json.length;
      if (block !== undefined) {
        block.text += text + thinking;
        block.json += partial_json;
      }
    }
    if (event.type === 'message_delta') {
      stopReason = event.delta.stop_reason ?? stopReason;
      usage = { ...usage, ...event.usage };
    }
    if (characters > MAX_BODY_BYTES) throw new Error(`it is more than ${MAX_BODY_BYTES} bytes`);
  }
  if (!isWhole && stopReason === undefined) throw new Error('the reply ended before it was complete');
  const content = [...blocks.values()].map(completeBlock);
  return Response.json({ content, stop_reason: stopReason, usage });
}

function completeBlock({ start, text, json }: Block): Readonly<Record<string, unknown>> {
  switch (start.type) {
    case 'text':
      return { ...start, text: `${typeof start.text === 'string' ? start.text : ''}${text}` };
    case 'thinking':
      return { ...start, thinking: `${typeof start.thinking === 'string' ? start.thinking : ''}${text}` };
    case 'tool_use':
      // The input stays text: the reader of arguments handles those that are not JSON.
      return { ...start, input: json === '' ? start.input : json };
    default:
      return start;
  }
}
