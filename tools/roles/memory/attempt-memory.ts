import type { Attempt } from './attempt.ts';
import type { GapRecord, StoredGapRecord } from './gap-record.ts';

/** What the overseer keeps of its attempts and finds again: the part of the store that agents work with. */
export interface AttemptMemory {
  /** Keeps an attempt, right or wrong (OV-20), and returns its number: 1 for the team's first at this question. */
  recordAttempt(attempt: Attempt): Promise<number>;

  /**
   * Keeps a gap record for the very next plan (OV-15) and in the row of its attempt (OV-36), which must be recorded already. One
   * that tells the answer, or what the question names, is not stored (OV-12).
   */
  addGapRecord(record: GapRecord, origin: GapOrigin): Promise<GapReceipt>;

  /** What the planner may see for a question, most relevant first: planning hints, and what a person approved (OV-16, OV-19). */
  gapRecords(query: GapQuery): Promise<StoredGapRecord[]>;
}

/** What a gap record must not tell. */
export interface Secrets {
  /** Empty for a record that was not made from a question. */
  readonly question: string;
  /** The true answer in all its accepted forms; empty where none is known. */
  readonly answers: readonly string[];
}

export interface Leak {
  readonly what: 'answer' | 'name';
  /** As it stands in the secrets. For whoever asks for another record: never to be stored. */
  readonly text: string;
}

interface GapOrigin extends Secrets {
  /** The attempt that it was abstracted from; null where a person wrote it. */
  readonly attempt_id: string | null;
}

type GapReceipt =
  | { readonly stored: true; readonly id: number }
  | { readonly stored: false; readonly leaks: readonly Leak[] };

interface GapQuery {
  readonly questionType: string;
  /** Tools that the question is sure to need, such as the reader of its file. */
  readonly tools?: readonly string[];
  readonly question: string;
  /** 1 to 50. */
  readonly limit: number;
}
