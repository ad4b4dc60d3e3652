import type { ChatMessage } from '@gaia-mesh/core/contracts/engine.ts';
import { hashText } from '@gaia-mesh/core/contracts/model-exchange.ts';
import { findOldResults, shortenResults, shortenText } from './fit-messages.ts';

/** Of conversations with one model; the oldest is forgotten, and made again where it is needed. */
const MAX_KEPT = 64;
/** What a model was asked to be brief in is cut where it was not. */
const MAX_CHARACTERS = 4_000;

const MARK = '[Summarised, to fit the model’s context.]';
const GONE = '[In the summary further on.]';

/**
 * Summaries of the oldest results of tools, for conversations that shortening these does not make fit. One stands for the first results of
 * its conversation, and is there again in each later turn; when it and the results behind it are too long, both are summarised in one.
 */
export class Summaries {
  /** By the digest of the results that a summary stands for. */
  readonly #kept = new Map<string, string>();

  /**
   * @param fits whether a model takes in such messages
   * @param summarise asks for a summary of results, oldest first; undefined where there is none to be had
   * @returns the messages, as many as before; the same where they fit or hold no old results
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

/** The summary stands in the place of the last result that it stands for: servers want a result for each call. */
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
