import type { ChatMessage } from '@gaia-mesh/core/contracts/engine.ts';
import type { ModelQuery } from '../model-format.ts';
import { countCharacters, fitMessages } from './fit-messages.ts';

/** Characters per token in English text and JSON for most tokenizers; the server's counts correct it. */
const CHARACTERS_A_TOKEN = 3.5;
/** Outside these bounds, a server's count is for something else than this prompt. */
const RATIOS = { least: 1.5, most: 6 };
/** The part of the window that is kept for the reply, up to a number of tokens. */
const REPLY_PART = 0.25;
const MAX_REPLY_TOKENS = 2_048;
/** Factor by which a prompt is shortened each time that it is refused as too long. */
const SHRINK = 0.65;

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

  /** Returns the messages, shortened if they would not fit. */
  fit(query: ModelQuery): readonly ChatMessage[] {
    const room = this.#room() - countOverhead(query);
    return fitMessages(query.messages, room);
  }

  /** Returns true if a query fits unshortened, as far as is known. */
  takes(query: ModelQuery): boolean {
    return countCharacters(query.messages) <= this.#room() - countOverhead(query);
  }

  /** Learns from the server's count for a prompt. */
  counted(query: ModelQuery, promptTokens: number | null): void {
    if (promptTokens === null || promptTokens === 0) return;
    const ratio = (countCharacters(query.messages) + countOverhead(query)) / promptTokens;
    if (ratio >= RATIOS.least && ratio <= RATIOS.most) this.#ratio = Math.min(this.#ratio, ratio);
  }

  /** Learns from a refusal of a prompt as too long; the server's message mostly gives the limit. */
  refused(query: ModelQuery, message: string): void {
    const sent = countCharacters(query.messages) + countOverhead(query);
    const said = /(?:context|maximum|limit|n_ctx)[^\d]{0,60}?(\d{3,7})\b/i.exec(message)?.[1];
    const tokens = said === undefined ? undefined : Number(said);
    if (tokens !== undefined && (this.#tokens === undefined || tokens < this.#tokens)) this.#tokens = tokens;
    this.#mostCharacters = Math.min(this.#mostCharacters, sent) * SHRINK;
  }

  #room(): number {
    if (this.#tokens === undefined) return this.#mostCharacters;
    const reply = Math.min(this.#tokens * REPLY_PART, MAX_REPLY_TOKENS);
    return Math.min(this.#mostCharacters, (this.#tokens - reply) * this.#ratio);
  }
}

/** Counts the characters of a request besides its messages. */
function countOverhead({ tools, schema }: ModelQuery): number {
  return (
    (tools.length === 0 ? 0 : JSON.stringify(tools).length) +
    (schema === undefined ? 0 : JSON.stringify(schema).length)
  );
}
