import type { ChatMessage } from '@gaia-mesh/core/contracts/engine.ts';
import { hashText } from '@gaia-mesh/core/contracts/model-exchange.ts';
import { findOldResults, shortenResults, shortenText } from './fit-messages.ts';

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
