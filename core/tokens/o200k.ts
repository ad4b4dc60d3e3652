import { countTokens, decodeGenerator, encode } from 'gpt-tokenizer/encoding/o200k_base';

/**
 * Encoding of GPT-4o and later, including gpt-oss. The published package holds this module with the one table
 * that it needs.
 */
export const o200k = { encode, decodeGenerator };

/** Counts the tokens of a text in the o200k_base encoding. */
export function encodeO200k(text: string): number {
  return countTokens(text, AS_TEXT);
}

/** Treats marks of the chat format inside a text as text, as servers do. */
const AS_TEXT = { disallowedSpecial: new Set<string>() };
