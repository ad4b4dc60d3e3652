import type { ChatTurn, ToolCall } from '@gaia-mesh/core/contracts/engine.ts';
import {
  isJsonList,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '@gaia-mesh/core/contracts/packet.ts';
import type { TokenCounts } from '@gaia-mesh/core/contracts/prompt-part.ts';
import { readBytes } from '@gaia-mesh/core/system/limit-bytes.ts';
import { parseExactJson } from '@gaia-mesh/core/system/parse-json.ts';
import { parseServerEvents, readServerEvents } from '@gaia-mesh/core/system/server-events.ts';
import { findConnectionFault } from '../../http/fetch.ts';
import { createReplyError, FaultError } from '../http/fault.ts';
import { buildToolCalls } from './json-reply.ts';

/** A complete reply of a model server. */
export interface ModelReply {
  readonly content: string;
  readonly toolCalls: readonly ToolCall[];
  readonly finish: Exclude<ChatTurn['finish'], 'refused'> | 'filtered';
  /** Thoughts of a reasoning model, if the server separates them from the content. */
  readonly reasoning: string | undefined;
  /** The server's own figures; null for those that it leaves out. */
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  /** Prompt tokens that came from the server's cache, and those written into it at their own price. */
  readonly cachedTokens?: number | undefined;
  readonly cacheWriteTokens?: number | undefined;
  readonly counts?: TokenCounts | undefined;
  /** The parts of it that could not be read, each with the reason. */
  readonly lost: readonly string[];
}

/** A call as its pieces arrive. */
interface BegunCall {
  readonly index: number | undefined;
  readonly id: string | undefined;
  name: string;
  arguments: JsonValue | undefined;
}

/** One piece of a call. A field that a server omits, or sends with another type, counts as omitted. */
interface CallPiece {
  readonly index?: JsonValue | undefined;
  readonly id?: JsonValue | undefined;
  readonly name?: JsonValue | undefined;
  readonly arguments?: JsonValue | undefined;
}

/**
 * A reply of any model server, put together from its pieces. A piece that cannot be read costs that piece alone
 * and is named in `lost`; how a reply ended decides whether its words are an answer.
 */
export class ServerReply {
  readonly lost: string[] = [];
  readonly #texts: string[] = [];
  readonly #thoughts: string[] = [];
  readonly #calls: BegunCall[] = [];
  #characters = 0;
  #finish: string | undefined;
  #isRefused = false;
  #isClosed = false;

  /** Adds words of the reply: a text, or a list of parts of which some are thoughts. */
  addContent(content: JsonValue | undefined, where = 'content'): void {
    if (content === undefined || content === null) return;
    for (const part of isJsonList(content) ? content : [content]) {
      if (typeof part === 'string' || typeof part === 'number') this.#add(this.#texts, String(part));
      else if (!isJsonObject(part)) this.lost.push(`${where}: a part is neither a text nor an object`);
      else if (typeof part.thinking === 'string' || isJsonList(part.thinking))
        this.addThoughts(part.thinking);
      else if (/thinking|reasoning/.test(String(part.type)))
        this.addThoughts(part.text ?? part.content ?? part.summary);
      else if (typeof part.text === 'string') this.#add(this.#texts, part.text);
      else if (part.text === null || part.type === 'text') continue;
      else this.lost.push(`${where}: a part of type ${String(part.type).slice(0, 64)} is not known here`);
    }
  }

  addThoughts(thoughts: JsonValue | undefined): void {
    if (typeof thoughts === 'string') this.#add(this.#thoughts, thoughts);
    for (const part of isJsonList(thoughts) ? thoughts : [])
      this.addThoughts(isJsonObject(part) ? part.text : part);
  }

  /** Notes that the server refused to let the model reply. */
  refuse(refusal: JsonValue | undefined): void {
    if (typeof refusal === 'string' && refusal !== '') this.#isRefused = true;
  }

  /**
   * Adds a piece of a call. Two names, two ids or two whole objects of arguments at one index are two calls; a
   * piece without an index continues the last call.
   */
  addCall({ index, id, name, arguments: given }: CallPiece): void {
    const at = typeof index === 'number' ? index : undefined;
    const own = typeof id === 'string' && id !== '' ? id : undefined;
    const named = typeof name === 'string' ? name : '';
    const last = at === undefined ? this.#calls.at(-1) : this.#calls.findLast((call) => call.index === at);
    let call = last;
    if (last === undefined || isAnotherCall(last, own, named, given, at)) {
      call = { index: at, id: own, name: named, arguments: undefined };
      this.#calls.push(call);
    }
    if (call === undefined) return;
    if (call.name === '') call.name = named;
    if (typeof given === 'string') {
      this.#characters += given.length;
      call.arguments = `${typeof call.arguments === 'string' ? call.arguments : ''}${given}`;
    } else if (given !== undefined && given !== null) call.arguments = given;
    this.#checkSize();
  }

  /** Characters so far: words, thoughts and arguments. */
  get characters(): number {
    return this.#characters;
  }

  /** Notes that the server has marked the end of the reply. */
  close(): void {
    this.#isClosed = true;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Notes why the reply ended. */
  end(reason: JsonValue | undefined): void {
    if (typeof reason === 'string' && reason !== '') this.#finish = reason;
  }

  get hasEnded(): boolean {
    return this.#finish !== undefined;
  }

  /** Reads a number of tokens; one that is no whole number is unknown. */
  readCount(value: JsonValue | undefined, where: string): number | null {
    if (value === undefined || value === null) return null;
    const count = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
    if (typeof count === 'number' && Number.isSafeInteger(count) && count >= 0) return count;
    this.lost.push(
      `${where} is ${JSON.stringify(value).slice(0, 40)}, not a number of tokens: they are unknown`,
    );
    return null;
  }

  /**
   * Returns the whole reply.
   *
   * @param turn number of messages before it, which makes ids of calls new
   * @throws the failure of a reply that the server broke off: its words are no answer
   */
  toReply(
    turn: number,
    usage: Pick<
      ModelReply,
      'promptTokens' | 'completionTokens' | 'cachedTokens' | 'cacheWriteTokens' | 'counts'
    >,
  ): ModelReply {
    const named = this.#calls.filter(({ name }) => name !== '');
    for (const _ of this.#calls.slice(named.length)) this.lost.push('a call of a tool has no name');
    const toolCalls = buildToolCalls(named, turn);
    const finish = this.#isRefused ? 'filtered' : readFinish(this.#finish, toolCalls.length > 0);
    if (finish === 'broken')
      throw createReplyError({
        error: { message: `it was ended for the reason ${JSON.stringify(this.#finish)}` },
      });
    const content = this.#texts.join('');
    if (!content.isWellFormed()) this.lost.push('content: half a character became U+FFFD');
    return {
      content,
      reasoning: this.#thoughts.join('') || undefined,
      toolCalls,
      finish,
      lost: this.lost,
      ...usage,
    };
  }

  #add(to: string[], text: string): void {
    to.push(text);
    this.#characters += text.length;
    this.#checkSize();
  }

  #checkSize(): void {
    // A server that never stops must not fill the memory.
    if (this.#characters > MAX_BODY_BYTES) throw new Error(`it is more than ${MAX_BODY_BYTES} bytes`);
  }
}

function isAnotherCall(
  before: BegunCall,
  id: string | undefined,
  name: string,
  given: JsonValue | undefined,
  index: number | undefined,
): boolean {
  if (id !== undefined && before.id !== undefined && id !== before.id) return true;
  if (name === '') return false;
  if (before.name !== '' && name !== before.name) return true;
  // Some servers repeat the name with each piece: only arguments after whole arguments begin another call.
  const brings = given !== undefined && given !== null && given !== '';
  const isWhole =
    typeof before.arguments === 'string' ? isJsonText(before.arguments) : before.arguments !== undefined;
  return brings && isWhole && (index === undefined || before.name !== '');
}

function isJsonText(text: string): boolean {
  if (!text.trimEnd().endsWith('}')) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Reads why a reply ended, in the words of any server. */
function readFinish(reason: string | undefined, hasCalls: boolean): ModelReply['finish'] | 'broken' {
  const said = reason ?? '';
  if (/filter|refus|safety|recitation|prohibited|blocked/i.test(said)) return 'filtered';
  if (/error|abort|cancel|fail|malformed|interrupt/i.test(said)) return 'broken';
  if (/length|max_?(?:output_?)?tokens|context_window/i.test(said)) return 'length';
  return hasCalls ? 'tool_calls' : 'stop';
}

// Maximum bytes of a body, far above any reply that fits a context, even with each character written as \uXXXX.
const MAX_BODY_BYTES = 8 * 1024 * 1024;
/** Maximum bytes of a stream, which repeats its metadata every few characters. */
const MAX_STREAM_BYTES = 256 * 1024 * 1024;

function createLengthError(): Error {
  return new Error(`it is more than ${MAX_STREAM_BYTES} bytes, or a line of it more than ${MAX_BODY_BYTES}`);
}

/** Yields the lines of a streamed body that are not empty. */
async function* readLines({ body }: Response): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  // The pieces of a line are joined once, so that a long one is not copied with each of them.
  let begun: string[] = [];
  let characters = 0;
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    const [first = '', ...lines] = decoder.decode(chunk, { stream: true }).split('\n');
    begun.push(first);
    characters += first.length;
    if (bytes > MAX_STREAM_BYTES || characters > MAX_BODY_BYTES) throw createLengthError();
    for (const line of lines) {
      const whole = begun.join('').trim();
      if (whole !== '') yield whole;
      begun = [line];
      characters = line.length;
    }
  }
  const last = (begun.join('') + decoder.decode()).trim();
  if (last !== '') yield last;
}

function isEventStream(response: Response): boolean {
  return /^text\/event-stream\b/i.test(response.headers.get('Content-Type') ?? '');
}

/** Yields the data of each event of a stream as it arrives. @throws Error for a stream that is too long */
async function* readEventTexts({ body }: Response): AsyncGenerator<string> {
  const bounds = { maxCharacters: MAX_BODY_BYTES, maxBytes: MAX_STREAM_BYTES, tooLong: createLengthError };
  for await (const { data } of readServerEvents(body ?? [], bounds)) {
    const text = data.trim();
    if (text !== '') yield text;
  }
}

/** Reads a whole body as text. */
export async function readWholeText({ body }: Response): Promise<string> {
  const createError = () => new Error(`it is more than ${MAX_BODY_BYTES} bytes`);
  return (await readBytes(body, MAX_BODY_BYTES, createError)).toString();
}

/** The event that ends a stream in OpenAI's format. */
const END_MARK = '[DONE]';

/** The part of a `ModelFormat` that is about replies. */
interface ReplyFormat {
  readonly framing: 'lines' | undefined;
  readonly member: string;
  readonly open: (reply: ServerReply) => { add(part: JsonObject): void; end(): ModelReply };
}

/**
 * Receives a reply of any format, streamed or whole. A reply is complete once the server says so: by a mark at its end, or by the reason
 * why it ended.
 *
 * @throws FaultError `cut` with the characters that came, for a reply that is not complete, or with the server's own error within it;
 * SyntaxError if the reply has another format
 */
export async function receiveReply(
  response: Response,
  { framing, member, open }: ReplyFormat,
): Promise<ModelReply> {
  const reply = new ServerReply();
  const parts = open(reply);
  const toCut = (why: string, cause?: unknown) =>
    new FaultError({ kind: 'cut', characters: reply.characters, why, cause });
  try {
    const { texts, isStream } = await openTexts(response, framing);
    let isTorn = false;
    for await (const text of texts) {
      if (isTorn) throw toCut('the stream became unreadable');
      if (text === END_MARK) reply.close();
      if (reply.isClosed) break;
      const part = parsePart(text, reply);
      // Only the last part may be torn, by the end of the stream.
      isTorn = part === undefined;
      if (part === undefined) continue;
      parts.add(part);
      const isEvent = isStream && framing !== 'lines';
      if (!isEvent && !reply.isClosed) requireMember(part, member);
      if (!isStream) reply.close();
    }
    if (!reply.isClosed && !reply.hasEnded) throw toCut(isStream ? 'the stream ended' : 'the reply ended');
    return parts.end();
  } catch (error) {
    const why = explainConnectionEnd(error);
    if (why === undefined) throw error;
    // A reply that has ended lacks nothing but its usage.
    if (reply.hasEnded) return parts.end();
    throw toCut(why, error);
  }
}

/** Returns the texts of which a reply consists: events, lines, or the whole. */
async function openTexts(
  response: Response,
  framing: ReplyFormat['framing'],
): Promise<{ readonly texts: AsyncIterable<string> | readonly string[]; readonly isStream: boolean }> {
  if (isEventStream(response)) return { texts: readEventTexts(response), isStream: true };
  if (framing === 'lines') return { texts: readLines(response), isStream: true };
  const whole = await readWholeText(response);
  // Some proxies name another type for a stream of events.
  if (!/^\s*(?:data|event|id|retry)?:/.test(whole)) return { texts: [whole], isStream: false };
  const texts = parseServerEvents(whole).map(({ data }) => data.trim());
  return { texts: texts.filter((text) => text !== ''), isStream: true };
}

/** Explains how the connection of a reply ended; undefined for any other error. */
function explainConnectionEnd(error: unknown): string | undefined {
  if (error instanceof Error && error.name === 'AbortError') return 'the connection was closed';
  const fault = findConnectionFault(error);
  return fault && `the connection was lost (${fault.message})`;
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
  if (only.error !== undefined && only.error !== null && only.error !== false) throw createReplyError(only);
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
  if ([message, detail].some((text) => typeof text === 'string' && text !== '')) throw createReplyError(body);
  throw new SyntaxError(`expected ${name}, came ${JSON.stringify(body).slice(0, 100)}`);
}
