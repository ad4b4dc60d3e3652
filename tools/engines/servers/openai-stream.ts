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
 * Reads a reply, whether the server streams it (chunks of `chat.completion.chunk`) or sends it whole, as some do
 * regardless of the request.
 *
 * @param turn number of messages before it
 * @throws Error for a stream that ends before the reply does
 */
export async function readCompletion(response: Response, turn: number): Promise<ModelReply> {
  const reply = new ServerReply();
  let usage: JsonValue | undefined;
  let isWhole = false;
  if (isEventStream(response)) {
    for await (const event of readEvents(response)) {
      if (event === END_OF_EVENTS) {
        isWhole = true;
        break;
      }
      if (!isJsonObject(event)) throw new SyntaxError('expected chunks that are objects');
      if (event.error !== undefined && event.error !== null) throw toReplyFailure(event);
      usage = event.usage ?? usage;
      addChoice(reply, event);
    }
  } else {
    const body = requireMember(await readWholeJson(response), 'choices');
    usage = body.usage;
    addChoice(reply, body);
    isWhole = true;
  }
  if (!isWhole && !reply.hasEnded) throw new Error('the reply ended before it was complete');
  const { prompt_tokens, completion_tokens, prompt_tokens_details } = isJsonObject(usage) ? usage : {};
  const { cached_tokens } = isJsonObject(prompt_tokens_details) ? prompt_tokens_details : {};
  return reply.toReply(turn, {
    promptTokens: reply.readCount(prompt_tokens, 'usage.prompt_tokens'),
    completionTokens: reply.readCount(completion_tokens, 'usage.completion_tokens'),
    cachedTokens: reply.readCount(cached_tokens, 'usage.prompt_tokens_details.cached_tokens') ?? undefined,
  });
}

/** Adds the first choice of a chunk or of a whole reply. */
function addChoice(reply: ServerReply, { choices }: JsonObject): void {
  const [choice] = isJsonList(choices) ? choices : [];
  if (!isJsonObject(choice)) return;
  if (choice.error !== undefined && choice.error !== null) throw toReplyFailure(choice);
  const delta = choice.delta ?? choice.message;
  if (isJsonObject(delta)) {
    reply.addContent(delta.content);
    // Two names for thoughts: DeepSeek's and llama.cpp's, and vLLM's newer one. Some servers send both.
    reply.addThoughts(delta.reasoning_content ?? delta.reasoning);
    reply.refuse(delta.refusal);
    for (const part of isJsonList(delta.tool_calls) ? delta.tool_calls : []) {
      const call = isJsonObject(part) ? part : {};
      const own = isJsonObject(call.function) ? call.function : {};
      reply.addCall({ index: call.index, id: call.id, name: own.name, arguments: own.arguments });
    }
  }
  reply.end(choice.finish_reason);
}
