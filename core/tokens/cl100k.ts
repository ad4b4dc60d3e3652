import { decodeGenerator, encode } from 'gpt-tokenizer/encoding/cl100k_base';

/**
 * Encoding of GPT-4 and GPT-3.5. The published package holds this module with the one table that it needs.
 */
export const cl100k = { encode, decodeGenerator };
