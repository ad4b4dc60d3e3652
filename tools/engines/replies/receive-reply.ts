import {
  isJsonList,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '@gaia-mesh/core/contracts/packet.ts';
import { parseExactJson } from '@gaia-mesh/core/system/parse-json.ts';
import { parseServerEvents } from '@gaia-mesh/core/system/server-events.ts';
import { findConnectionFault } from '../../http/fetch.ts';
import { isEventStream, readEventTexts, readLines, readWholeText } from '../http/body.ts';
import { BrokenReply, toReplyFailure } from '../http/reply-failure.ts';
import type { ModelFormat, ModelQuery } from '../model-format.ts';
import { type ModelReply, ServerReply } from './server-reply.ts';

/** The event that ends a stream in OpenAI's format. */
const END_MARK = '[DONE]';

/**
 * Receives a reply of any format, streamed or whole. A reply is complete once the server says so: by a mark at its end, or by the reason
 * why it ended.
 *
 * @throws BrokenReply with the characters that came, for a reply that is not complete, whatever the cause; the server's own error within
 * a reply is one of them. Its cause is a SyntaxError if the reply has another format from its beginning.
 */
export async function receiveReply(
  response: Response,
  format: ModelFormat,
  query: ModelQuery,
): Promise<ModelReply> {
  const reply = new ServerReply();
  const parts = format.openReply(reply, query);
  try {
    const { texts, isStream } = await openTexts(response, format);
    let isTorn = false;
    for await (const text of texts) {
      if (isTorn) throw new BrokenReply(reply.characters, 'the stream became unreadable');
      if (text === END_MARK) reply.close();
      if (reply.isClosed) break;
      const part = parsePart(text, reply);
      // Only the last part may be torn, by the end of the stream.
      isTorn = part === undefined;
      if (part === undefined) continue;
      parts.add(part);
      const isEvent = isStream && format.framing !== 'lines';
      if (!isEvent && !reply.isClosed) requireMember(part, format.member);
      if (!isStream) reply.close();
    }
    if (!reply.isClosed && !reply.hasEnded)
      throw new BrokenReply(reply.characters, isStream ? 'the stream ended' : 'the reply ended');
    return parts.end();
  } catch (error) {
    // A reply that has ended lacks nothing but its usage.
    if (reply.hasEnded && isConnectionEnd(error)) return parts.end();
    throw error instanceof BrokenReply ? error : new BrokenReply(reply.characters, undefined, error);
  }
}

/** Returns the texts of which a reply consists: events, lines, or the whole. */
async function openTexts(
  response: Response,
  { framing }: ModelFormat,
): Promise<{ readonly texts: AsyncIterable<string> | readonly string[]; readonly isStream: boolean }> {
  if (isEventStream(response)) return { texts: readEventTexts(response), isStream: true };
  if (framing === 'lines') return { texts: readLines(response), isStream: true };
  const whole = await readWholeText(response);
  // Some proxies name another type for a stream of events.
  if (!/^\s*(?:data|event|id|retry)?:/.test(whole)) return { texts: [whole], isStream: false };
  const texts = parseServerEvents(whole).map(({ data }) => data.trim());
  return { texts: texts.filter((text) => text !== ''), isStream: true };
}

function isConnectionEnd(error: unknown): boolean {
  return findConnectionFault(error) !== undefined || (error instanceof Error && error.name === 'AbortError');
}

/**
 * Parses a part of a reply; undefined for one that was begun as JSON and is not whole.
 *
 * @throws the server's own error, which some send with HTTP 200; SyntaxError for a part that is no JSON
 */
function parsePart(text: string, { characters }: ServerReply): JsonObject | undefined {
  let value: JsonValue;
  try {
    value = parseExactJson(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    if (isWholeJson(text)) throw error;
    if (characters === 0 && !/^(?:[[{]|$)/.test(text.trim()))
      throw new SyntaxError(`expected JSON, came ${text.trim().slice(0, 100)}`, { cause: error });
    return undefined;
  }
  // Gemini puts an error into a list.
  const [only] = isJsonList(value) ? value : [value];
  if (!isJsonObject(only)) throw new SyntaxError(`expected an object, came ${text.slice(0, 100)}`);
  if (only.error !== undefined && only.error !== null && only.error !== false) throw toReplyFailure(only);
  return only;
}

/** Returns true for JSON that is refused for another reason than its end, such as its depth. */
function isWholeJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Checks that a reply has the member `name`, which each reply of the format has. */
function requireMember(body: JsonObject, name: string): void {
  const { [name]: member, message, detail } = body;
  const isThere = isJsonList(member) ? member.length > 0 : member !== undefined && member !== null;
  if (isThere) return;
  if ([message, detail].some((text) => typeof text === 'string' && text !== '')) throw toReplyFailure(body);
  throw new SyntaxError(`expected ${name}, came ${JSON.stringify(body).slice(0, 100)}`);
}
