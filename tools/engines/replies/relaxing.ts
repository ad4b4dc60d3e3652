import { refusalIn } from '../http/exchange.ts';
import { isLongPrompt, type StatusFault } from '../http/fault.ts';

/** A request that the server does not understand; 422 is what servers written with FastAPI say. */
const REFUSALS = [400, 422];

/** Sends a request of such parts. */
type Relaxing<Parts> = <Reply>(post: (parts: Parts) => Promise<Reply>) => Promise<Reply>;

/**
 * Sends a request, and where the server refuses a part of it that it can do without, sends it again without that part: servers
 * of one format differ in what they take. What was accepted in the end is remembered.
 *
 * @param parts what is asked for at first
 * @param less what to ask for after a refusal; undefined where nothing is left to leave out
 */
export function relaxing<Parts>(
  parts: Parts,
  less: (parts: Parts, refusal: StatusFault) => Parts | undefined,
): Relaxing<Parts> {
  let accepted = parts;
  return async (post) => {
    let first: unknown;
    for (let now = accepted; ; ) {
      try {
        const reply = await post(now);
        accepted = now;
        return reply;
      } catch (error) {
        const refusal = refusalIn(error);
        if (refusal === undefined || !REFUSALS.includes(refusal.status) || isLongPrompt(refusal)) throw error;
        first ??= error;
        const next = less(now, refusal);
        // Leaving out did not help, so it was not the reason.
        if (next === undefined) throw first;
        now = next;
      }
    }
  };
}
