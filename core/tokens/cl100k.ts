import ranks from 'gpt-tokenizer/bpeRanks/cl100k_base';
import { CL100K_TOKEN_SPLIT_REGEX } from 'gpt-tokenizer/encodingParams/constants';
import { Vocabulary } from './vocabulary.ts';

/**
 * Encoding of GPT-4 and GPT-3.5. The published package holds this module with the one table that it needs.
 */
export const cl100k = new Vocabulary(ranks, CL100K_TOKEN_SPLIT_REGEX);
