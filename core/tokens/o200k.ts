import { countTokens, decodeGenerator, encode } from 'gpt-tokenizer/encoding/o200k_base';

/** The encoding of GPT-4o and later, gpt-oss among them. The published package holds this module with the one table that it needs. */
export const o200k = { encode, decodeGenerator };

/** Tokens of a text by the o200k_base encoding. */
export function encodeO200k(text: string): number {
  return countTokens(text, AS_TEXT);
}

/** What looks like a mark of the chat format is text, as it is for the servers. */
const AS_TEXT = { disallowedSpecial: new Set<string>() };
