import ranks from 'gpt-tokenizer/bpeRanks/o200k_base';
import { O200K_TOKEN_SPLIT_REGEX } from 'gpt-tokenizer/encodingParams/constants';
import { Vocabulary } from './vocabulary.ts';

/**
 * Encoding of GPT-4o and later, including gpt-oss. The published package holds this module with the one table
 * that it needs.
 */
export const o200k = new Vocabulary(ranks, O200K_TOKEN_SPLIT_REGEX);
