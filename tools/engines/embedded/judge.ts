import { cleanAnswer, statesAnswer } from '../../roles/answer/clean-answer.ts';
import { candidatesIn } from './candidates.ts';
import { hear } from './conversation.ts';
import { openFiles } from './open-files.ts';

/** What a piece of work is about, as its judge is told. */
interface Judged {
  readonly question: string;
  readonly file?: string | undefined;
  readonly document: string;
  readonly work: string;
}

/**
 * How probable the answer that a piece of work states is beside the most probable one, from 0 to 1, by who reads the document afresh;
 * undefined where nothing can be said of it: it states none, or there is nothing to read.
 */
export function relativeChance({ question, file = '', document, work }: Judged): number | undefined {
  const answer = statesAnswer(work) ? cleanAnswer(work) : null;
  if (answer === null) return undefined;
  const parts = Object.entries({ question, file, document }).map(([name, text]) => {
    return { kind: 'peer' as const, name, text };
  });
  const heard = hear({ messages: [{ role: 'user', content: '', parts }] });
  const { matters } = openFiles(heard);
  if (matters.length === 0) return undefined;
  const { candidates } = candidatesIn(matters, heard, 0);
  const own = candidates.find((one) => (cleanAnswer(one.answer) ?? one.answer) === answer);
  const most = candidates[0]?.chance ?? 0;
  return own === undefined || most === 0 ? undefined : own.chance / most;
}
