import type { ChatMessage } from '@gaia-mesh/core/contracts/engine.ts';
import type { ModelQuery } from '../servers/model-client.ts';
import { countCharacters, fitMessages } from './fit-messages.ts';

/** Of English text and JSON with most tokenizers; what a server counts corrects it. */
const CHARACTERS_A_TOKEN = 3.5;
/** Below and above these a server counts something else than this prompt. */
const RATIOS = { least: 1.5, most: 6 };
/** Of the window for the reply, and at most so many tokens. */
const REPLY_PART = 0.25;
const MAX_REPLY_TOKENS = 2_048;
/** A prompt that was refused as too long is made shorter by this each time. */
const SHRINK = 0.65;

/**
 * How much a model takes in at once: the tokens of its context, where they are known, and how many characters a token has, as the server
 * counts them.
 */
export class Window {
  #tokens: number | undefined;
  #ratio = CHARACTERS_A_TOKEN;
  /** Beside {@link Window.#tokens}: what was refused once is refused again. */
  #mostCharacters = Number.POSITIVE_INFINITY;

  #asking: (() => Promise<number | undefined>) | undefined;

  /**
   * @param tokens of prompt and reply together; undefined where nobody said
   * @param ask says them where the server does, if they are not known
   */
  constructor(tokens: number | undefined, ask?: () => Promise<number | undefined>) {
    this.#tokens = tokens;
    this.#asking = tokens === undefined ? ask : undefined;
  }

  /** Asks once, before the first prompt. */
  async known(): Promise<void> {
    const asking = this.#asking;
    this.#asking = undefined;
    const tokens = await asking?.();
    this.#tokens ??= tokens;
  }

  /** The messages, shortened where they would not fit. */
  fit(query: ModelQuery): readonly ChatMessage[] {
    const room = this.#room() - countOverhead(query);
    return fitMessages(query.messages, room);
  }

  /** Whether a query goes as it is, as far as that is known. */
  takes(query: ModelQuery): boolean {
    return countCharacters(query.messages) <= this.#room() - countOverhead(query);
  }

  /** Hears what the server counted for a prompt. */
  counted(query: ModelQuery, promptTokens: number | null): void {
    if (promptTokens === null || promptTokens === 0) return;
    const ratio = (countCharacters(query.messages) + countOverhead(query)) / promptTokens;
    if (ratio >= RATIOS.least && ratio <= RATIOS.most) this.#ratio = Math.min(this.#ratio, ratio);
  }

  /** Hears that a prompt was too long, in the words of the server, which mostly say how long one may be. */
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

/** Characters of a request beside its messages. */
function countOverhead({ tools, schema }: ModelQuery): number {
  return (
    (tools.length === 0 ? 0 : JSON.stringify(tools).length) +
    (schema === undefined ? 0 : JSON.stringify(schema).length)
  );
}
