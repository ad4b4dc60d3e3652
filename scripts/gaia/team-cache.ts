import type { Question } from './question.ts';

/**
 * Answers of earlier runs. Team, model and prompts are part of the key of whoever implements it, beside question and file hash
 * (C-11): an entry that comes back is this team's own.
 */
export interface TeamCache {
  get(question: Question): Promise<CachedAnswer | undefined>;
  /** In the store when the promise is fulfilled: it survives a kill (RA-07). */
  put(question: Question, answer: CachedAnswer): Promise<void>;
}

export interface CachedAnswer {
  readonly finalAnswer: string;
  readonly rawAnswer: string | null;
  readonly reasoningTrace: string;
}
