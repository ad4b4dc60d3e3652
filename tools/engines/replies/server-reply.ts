import type { ChatTurn, ToolCall } from '@gaia-mesh/core/contracts/engine.ts';
import { isJsonList, isJsonObject, type JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import type { TokenCounts } from '@gaia-mesh/core/contracts/prompt-part.ts';
import { MAX_BODY_BYTES } from '../http/body.ts';
import { toReplyFailure } from '../http/reply-failure.ts';
import { buildToolCalls } from './json-reply.ts';

/** A complete reply of a model server. */
export interface ModelReply {
  readonly content: string;
  readonly toolCalls: readonly ToolCall[];
  readonly finish: Exclude<ChatTurn['finish'], 'refused'> | 'filtered';
  /** Thoughts of a reasoning model, if the server separates them from the content. */
  readonly thoughts?: string | undefined;
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

/** One piece of a call; what a server leaves out, or sends in another type, counts as left out. */
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
      throw toReplyFailure({
        error: { message: `it was ended for the reason ${JSON.stringify(this.#finish)}` },
      });
    const content = this.#texts.join('');
    if (!content.isWellFormed()) this.lost.push('content: half a character became U+FFFD');
    return {
      content,
      thoughts: this.#thoughts.join(''),
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
