import type { Engine } from '../../core/contracts/engine.ts';
import type { JsonValue } from '../../core/contracts/packet.ts';
import { countTokens } from '../reader/tokens.ts';

/**
 * The embedded engine: each tool's own deterministic way, with no model and no network. Its tokens are the words and
 * marks of the texts that the step read and wrote (MP-52); keys and numbers are not reading matter.
 */
export function extractiveEngine(): Engine {
  return {
    name: 'extractive',
    tokenSource: 'embedded',
    async perform(step, work) {
      const result = step.embedded();
      work.countTokens(tokensOf(step.input) + tokensOf(result));
      return result;
    },
  };
}

/** Depth is bounded: a packet's payload was checked against `MAX_PAYLOAD_DEPTH`. */
function tokensOf(value: JsonValue): number {
  if (typeof value === 'string') return countTokens(value);
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, part: JsonValue) => sum + tokensOf(part), 0);
}
