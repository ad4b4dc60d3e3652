import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';

/** Tokens of a text by the o200k_base encoding (GPT-4o and later). The published package holds this module with the one table that it needs. */
export function tokensOf(text: string): number {
  return countTokens(text);
}
