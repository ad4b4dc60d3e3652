import type { ChatMessage, ToolDefinition } from '@gaia-mesh/core/contracts/engine.ts';
import { hashText } from '@gaia-mesh/core/contracts/model-exchange.ts';
import type { ModelQuery } from '../model-format.ts';

/** Summaries that are kept for one model; the oldest is dropped, and made again if needed. */
const MAX_KEPT = 64;
/** Maximum characters of a summary; a longer one is cut. */
const MAX_CHARACTERS = 4_000;

const MARK = '[Summarised, to fit the model’s context.]';
const GONE = '[In the summary further on.]';

/**
 * Summaries of the oldest tool results, for conversations that do not fit even with these shortened. A summary replaces the first results
 * of its conversation and is reused in each later turn; if it is too long with the results after it, both are summarised together.
 */
export class Summaries {
  /** Summaries by the digest of the results that they replace. */
  readonly #kept = new Map<string, string>();

  /**
   * @param fits returns true if the model can take such messages
   * @param summarise asks for a summary of results, oldest first; undefined if there is none
   * @returns as many messages as before; the same ones if they fit or hold no old results
   */
  async shorten(
    messages: readonly ChatMessage[],
    fits: (messages: readonly ChatMessage[]) => boolean,
    summarise: (results: readonly string[]) => Promise<string | undefined>,
  ): Promise<readonly ChatMessage[]> {
    const old = findOldResults(messages);
    if (old.length === 0 || fits(shortenResults(messages, old))) return messages;
    const results = old.map((index) => messages[index]?.content ?? '');
    const known = this.#longestKnown(results);
    const before =
      known === undefined ? messages : replaceResults(messages, old.slice(0, known.count), known.text);
    const rest = old.slice(known?.count ?? 0);
    if (rest.length === 0 || fits(shortenResults(before, rest))) return before;
    const given = [...(known === undefined ? [] : [known.text]), ...results.slice(known?.count ?? 0)];
    const text = (await summarise(given.map((result) => shortenText(result))))
      ?.trim()
      .slice(0, MAX_CHARACTERS)
      .toWellFormed();
    if (text === undefined || text === '') return before;
    this.#keep(hashResults(results), text);
    return replaceResults(messages, old, text);
  }

  #longestKnown(results: readonly string[]): { readonly count: number; readonly text: string } | undefined {
    for (let count = results.length; count > 0; count--) {
      const text = this.#kept.get(hashResults(results.slice(0, count)));
      if (text !== undefined) return { count, text };
    }
    return undefined;
  }

  #keep(key: string, text: string): void {
    this.#kept.set(key, text);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
  }
}

const hashResults = (results: readonly string[]): string => hashText(JSON.stringify(results));

/** Puts the summary in place of the last result that it replaces: servers want a result for each call. */
function replaceResults(
  messages: readonly ChatMessage[],
  places: readonly number[],
  text: string,
): ChatMessage[] {
  const last = places.at(-1);
  return messages.map((message, index) => {
    if (!places.includes(index)) return message;
    return { ...message, content: index === last ? `${MARK}\n${text}` : GONE };
  });
}

/** Size of an image in a prompt, which does not follow from its bytes; servers count 500 to 1,500 tokens. */
const IMAGE_CHARACTERS = 4_000;
/** Size of a call besides its text: names and brackets. */
const CALL_CHARACTERS = 40;

export function countCharacters(messages: readonly ChatMessage[]): number {
  return messages.reduce((sum, message) => sum + measureMessage(message), 0);
}

function measureMessage(message: ChatMessage): number {
  const images = message.role === 'user' ? (message.images?.length ?? 0) * IMAGE_CHARACTERS : 0;
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
  return calls.reduce(
    (sum, call) => sum + CALL_CHARACTERS + JSON.stringify(call.arguments).length,
    message.content.length + images,
  );
}

/** Length of an old result after the first shortening, enough for the decisive part of most. */
const SHORT_CHARACTERS = 2_000;
/** Length of an old result in the end, enough to recognise it. */
const BRIEF_CHARACTERS = 300;
/** Minimum length of a result that has just come. */
const FRESH_CHARACTERS = 1_000;

/** Returns the indices of the results before the last turn of the model, the oldest first. */
function findOldResults(messages: readonly ChatMessage[]): number[] {
  const lastTurn = messages.findLastIndex(({ role }) => role === 'assistant');
  return messages.flatMap(({ role }, index) => (role === 'tool' && index < lastTurn ? [index] : []));
}

/** Shortens those results as far as most keep their decisive part. */
function shortenResults(messages: readonly ChatMessage[], places: readonly number[]): ChatMessage[] {
  return messages.map((message, index) =>
    places.includes(index) ? shortenMessage(message, SHORT_CHARACTERS) : message,
  );
}

/** Shortens the results before the last turn of the model to their beginning. */
function shortenOldResults(messages: readonly ChatMessage[]): ChatMessage[] {
  const old = findOldResults(messages);
  return messages.map((message, index) =>
    old.includes(index) ? shortenMessage(message, BRIEF_CHARACTERS) : message,
  );
}

/**
 * Makes a conversation fit into `room` characters, as far as possible: the oldest tool results are shortened first, then cut down to their
 * beginning; then the newest results, the messages in between, and finally the middle of the longest text. The system message stays
 * whole, and so do the beginning and end of all others: the question stands at the beginning. No message is left out, because servers want
 * a result for each call. Traces keep the whole texts.
 *
 * @returns the same list if it fits
 */
function fitMessages(messages: readonly ChatMessage[], room: number): readonly ChatMessage[] {
  if (countCharacters(messages) <= room) return messages;
  const fitted = [...messages];
  const lastTurn = messages.findLastIndex(({ role }) => role === 'assistant');
  const places = messages.map((message, index) => ({ role: message.role, index }));
  const old = findOldResults(messages);
  const fresh = places.filter(({ role, index }) => role === 'tool' && index > lastTurn);
  const firstUser = places.find(({ role }) => role === 'user')?.index ?? 0;
  const between = places.filter(
    ({ role, index }) => role !== 'system' && role !== 'tool' && index > firstUser,
  );
  const shorten = (index: number, most: number) => {
    const message = fitted[index];
    if (message !== undefined) fitted[index] = shortenMessage(message, most);
  };
  const steps = [
    ...old.map((index) => [index, SHORT_CHARACTERS] as const),
    ...old.map((index) => [index, BRIEF_CHARACTERS] as const),
  ];
  for (const [index, most] of steps) {
    if (countCharacters(fitted) <= room) return fitted;
    shorten(index, most);
  }
  for (const { index } of fresh.toSorted(
    (a, b) => measureContent(fitted, b.index) - measureContent(fitted, a.index),
  )) {
    const excess = countCharacters(fitted) - room;
    if (excess <= 0) return fitted;
    shorten(index, Math.max(FRESH_CHARACTERS, measureContent(fitted, index) - excess));
  }
  for (const { index } of between) {
    if (countCharacters(fitted) <= room) return fitted;
    shorten(index, BRIEF_CHARACTERS);
  }
  const excess = countCharacters(fitted) - room;
  const longest = places
    .filter(({ role }) => role !== 'system')
    .toSorted((a, b) => measureContent(fitted, b.index) - measureContent(fitted, a.index))[0];
  if (excess > 0 && longest !== undefined)
    shorten(longest.index, Math.max(FRESH_CHARACTERS, measureContent(fitted, longest.index) - excess));
  return fitted;
}

function measureContent(messages: readonly ChatMessage[], index: number): number {
  return messages[index]?.content.length ?? 0;
}

/** Shortens a message; if it has parts, only the longest. */
function shortenMessage(message: ChatMessage, most: number): ChatMessage {
  if (!('parts' in message) || message.parts === undefined)
    return { ...message, content: shortenText(message.content, most) };
  const { parts } = message;
  const excess = message.content.length - most;
  const longest = parts.toSorted((a, b) => b.text.length - a.text.length)[0];
  const kept = parts.map((part) => {
    return part === longest
      ? { ...part, text: shortenText(part.text, Math.max(BRIEF_CHARACTERS, part.text.length - excess)) }
      : part;
  });
  return { ...message, parts: kept, content: kept.map(({ text }) => text).join('') };
}

/** Cuts a text of more than `most` characters to its beginning and end, with a mark in between; the result is no longer than `most`. */
function shortenText(text: string, most = SHORT_CHARACTERS): string {
  if (text.length <= most) return text;
  const mark = `\n[… shortened from ${text.length} characters, to fit the model's context …]\n`;
  const kept = Math.max(0, most - mark.length);
  const tail = Math.floor(kept / 4);
  return `${text.slice(0, kept - tail).toWellFormed()}${mark}${tail === 0 ? '' : text.slice(-tail).toWellFormed()}`;
}

/** Characters per token in English text and JSON for most tokenizers; the server's counts correct it. */
const CHARACTERS_A_TOKEN = 3.5;
/** Outside these bounds, a server's count is for something else than this prompt. */
const RATIOS = { least: 1.5, most: 6 };
/** The part of the window that is kept for the reply, up to a number of tokens. */
const REPLY_PART = 0.25;
const MAX_REPLY_TOKENS = 2_048;
/** Factor by which a prompt is shortened each time that it is refused as too long. */
const SHRINK = 0.6;
/** The part of the room that the definitions of tools may take if not all of a query fits. */
const TOOLS_PART = 0.4;
/** Tools that are offered however small the room is. */
const MIN_TOOLS = 3;

/**
 * The size of a model's context: its tokens, if they are known, and the number of characters per token, as the server
 * counts them.
 */
export class Window {
  #tokens: number | undefined;
  #ratio = CHARACTERS_A_TOKEN;
  /** A bound besides {@link Window.#tokens}: a length that was refused once is refused again. */
  #mostCharacters = Number.POSITIVE_INFINITY;

  #asking: (() => Promise<number | undefined>) | undefined;

  /**
   * @param tokens the size for prompt and reply together; undefined if the user did not set it
   * @param ask returns the size from the server, if it is not known
   */
  constructor(tokens: number | undefined, ask?: () => Promise<number | undefined>) {
    this.#tokens = tokens;
    this.#asking = tokens === undefined ? ask : undefined;
  }

  /** Asks for the size, once, before the first prompt. */
  async known(): Promise<void> {
    const asking = this.#asking;
    this.#asking = undefined;
    const tokens = await asking?.();
    this.#tokens ??= tokens;
  }

  /** Returns what fits of a query: the oldest results are shortened first, then fewer tools are offered, then all else is shortened. */
  fit(query: ModelQuery): Pick<ModelQuery, 'messages' | 'tools'> {
    const { messages } = query;
    const room = this.#room() - countSchema(query);
    const left = room - countCharacters(shortenOldResults(messages));
    const tools = chooseTools(query, Math.max(left, TOOLS_PART * room));
    return { messages: fitMessages(messages, room - countTools(tools)), tools };
  }

  /** Returns true if a query's messages fit unshortened, as far as is known, with as many tools as there is room for. */
  takes(query: ModelQuery): boolean {
    const { messages, tools } = query;
    const room = this.#room() - countSchema(query);
    return countCharacters(messages) <= room - Math.min(countTools(tools), TOOLS_PART * room);
  }

  /** Learns from the server's count for a prompt. */
  counted(query: ModelQuery, promptTokens: number | null): void {
    if (promptTokens === null || promptTokens === 0) return;
    const ratio = countQuery(query) / promptTokens;
    if (ratio >= RATIOS.least && ratio <= RATIOS.most) this.#ratio = Math.min(this.#ratio, ratio);
  }

  /** Learns from a refusal of a prompt as too long; the server's message mostly gives the limit. */
  refused(query: ModelQuery, message: string): void {
    const said = /(?:context|max(?:imum)?|limit|n_ctx|exceeds?|less than|<=|>)[^\d]{0,60}?(\d{3,7})\b/i.exec(
      message,
    )?.[1];
    const tokens = said === undefined ? undefined : Number(said);
    if (tokens !== undefined && (this.#tokens === undefined || tokens < this.#tokens)) this.#tokens = tokens;
    this.#mostCharacters = Math.min(this.#mostCharacters, countQuery(query)) * SHRINK;
  }

  /** Returns a function that forgets what refusals say from now on: a request that was refused at every length says nothing of others. */
  remember(): () => void {
    const [tokens, most] = [this.#tokens, this.#mostCharacters];
    return () => {
      this.#tokens = tokens;
      this.#mostCharacters = most;
    };
  }

  #room(): number {
    if (this.#tokens === undefined) return this.#mostCharacters;
    const reply = Math.min(this.#tokens * REPLY_PART, MAX_REPLY_TOKENS);
    return Math.min(this.#mostCharacters, (this.#tokens - reply) * this.#ratio);
  }
}

/** Counts the characters of a query. */
export function countQuery(query: Pick<ModelQuery, 'messages' | 'tools' | 'schema'>): number {
  return countCharacters(query.messages) + countTools(query.tools) + countSchema(query);
}

function countTools(tools: readonly ToolDefinition[]): number {
  return tools.length === 0 ? 0 : JSON.stringify(tools).length;
}

function countSchema({ schema }: Pick<ModelQuery, 'schema'>): number {
  return schema === undefined ? 0 : JSON.stringify(schema).length;
}

/** Chooses the tools that fit into `room` characters: those that were called first, then those that the conversation is about. */
function chooseTools({ messages, tools }: ModelQuery, room: number): readonly ToolDefinition[] {
  if (countTools(tools) <= room) return tools;
  const text = messages.map(({ content }) => content.toLowerCase()).join('\n');
  const words = new Set(splitWords(text));
  const called = new Set(
    messages
      .flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
      .map(({ name }) => name),
  );
  const rank = ({ name, description }: ToolDefinition) => {
    const shared = splitWords(`${name.replaceAll('_', ' ')} ${description}`).filter((word) =>
      words.has(word),
    );
    return (called.has(name) ? 1000 : 0) + (text.includes(name) ? 500 : 0) + new Set(shared).size;
  };
  const kept = new Set<ToolDefinition>();
  let characters = 0;
  for (const tool of tools.toSorted((a, b) => rank(b) - rank(a))) {
    characters += countTools([tool]);
    if (characters <= room || kept.size < MIN_TOOLS) kept.add(tool);
  }
  return tools.filter((tool) => kept.has(tool));
}

function splitWords(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\d]{3,}/gu) ?? [];
}
