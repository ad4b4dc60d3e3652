import {
  isJsonList,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '@gaia-mesh/core/contracts/packet.ts';
import { END_OF_EVENTS, isEventStream, readEvents, readWholeJson } from '../http/body.ts';
import { toReplyFailure } from '../http/exchange.ts';
import { requireMember, ServerReply } from '../replies/server-reply.ts';
import type { ModelReply } from './model-client.ts';

/**
 * Reads a reply, whether the server streams it (`message_start` … `message_stop`) or sends it whole.
 *
 * @param turn number of messages before it
 * @throws Error for a stream that ends before the reply does
 */
export async function readMessage(response: Response, turn: number): Promise<ModelReply> {
  const reply = new ServerReply();
  let usage: JsonObject = {};
  let isWhole = false;
  const addUsage = (more: JsonValue | undefined) => {
    if (isJsonObject(more)) usage = { ...usage, ...more };
  };
  if (isEventStream(response)) {
    let type: JsonValue | undefined;
    for await (const event of readEvents(response)) {
      if (event === END_OF_EVENTS) break;
      if (!isJsonObject(event) || typeof event.type !== 'string')
        throw new SyntaxError('expected events with a type');
      if (event.type === 'error') throw toReplyFailure(event);
      if (event.type === 'message_stop') {
        isWhole = true;
        break;
      }
      const { index, message, content_block: block, delta } = event;
      if (isJsonObject(message)) addUsage(message.usage);
      addUsage(event.usage);
      if (isJsonObject(block)) {
        ({ type } = block);
        addBlock(reply, block, index);
      }
      if (!isJsonObject(delta)) continue;
      reply.end(delta.stop_reason);
      if (delta.text !== undefined && type !== 'thinking') reply.addContent(delta.text);
      reply.addThoughts(type === 'thinking' ? (delta.thinking ?? delta.text) : delta.thinking);
      // The input stays text: the reader of arguments handles those that are not JSON.
      if (typeof delta.partial_json === 'string') reply.addCall({ index, arguments: delta.partial_json });
    }
  } else {
    const body = requireMember(await readWholeJson(response), 'content');
    const blocks = isJsonList(body.content) ? body.content : [body.content ?? null];
    for (const [index, block] of blocks.entries()) {
      if (isJsonObject(block)) addBlock(reply, block, index);
      else reply.addContent(block);
    }
    addUsage(body.usage);
    reply.end(body.stop_reason);
    isWhole = true;
  }
  if (!isWhole && !reply.hasEnded) throw new Error('the reply ended before it was complete');
  const read = (name: string) => reply.readCount(usage[name], `usage.${name}`);
  const [input, output] = [read('input_tokens'), read('output_tokens')];
  const written = read('cache_creation_input_tokens') ?? 0;
  const cached = read('cache_read_input_tokens') ?? 0;
  return reply.toReply(turn, {
    // The server's own figure excludes the cache.
    promptTokens: input === null ? null : input + written + cached,
    completionTokens: output,
    cachedTokens: cached === 0 ? undefined : cached,
    cacheWriteTokens: written === 0 ? undefined : written,
  });
}

/** Kinds of blocks that are no words of the model. */
const SILENT: ReadonlySet<JsonValue | undefined> = new Set(['redacted_thinking', 'server_tool_use']);

function addBlock(reply: ServerReply, block: JsonObject, index: JsonValue | undefined): void {
  const { type, id, name, input } = block;
  if (type === 'tool_use') {
    // A stream begins with an empty object and brings the input in pieces.
    const given = isJsonObject(input) && Object.keys(input).length === 0 ? undefined : input;
    reply.addCall({ index, id, name, arguments: given });
  } else if (type === 'thinking') reply.addThoughts(block.thinking);
  else if (!SILENT.has(type)) reply.addContent([block]);
}
