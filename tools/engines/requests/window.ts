import type { ToolDefinition } from '@gaia-mesh/core/contracts/engine.ts';
import type { ModelQuery } from '../model-format.ts';
import { countCharacters, fitMessages, shortenOldResults } from './fit-messages.ts';

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
