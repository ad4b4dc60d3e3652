import type { Attempt, GapRecord, StoredGapRecord } from './attempt.ts';

/** The part of the store that agents work with: it keeps the overseer's attempts and finds lessons again. */
export interface AttemptMemory {
  /** Stores an attempt, right or wrong (OV-20), and returns its number: 1 for the team's first at this question. */
  recordAttempt(attempt: Attempt): Promise<number>;

  /** Adds the overseer's diagnosis, word for word, to an attempt that is recorded already (OV-35). */
  addDiagnosis(attemptId: string, diagnosis: string): Promise<void>;

  /**
   * Stores a gap record for the very next plan (OV-15) and in the row of its attempt (OV-36), which must exist already. A record
   * that reveals the answer, or names from the question, is not stored (OV-12).
   */
  addGapRecord(record: GapRecord, origin: GapOrigin): Promise<GapReceipt>;

  /** Returns the records that a planner may see for a question, most relevant first: planning hints, and records that a person approved (OV-16, OV-19). */
  gapRecords(query: GapQuery): Promise<StoredGapRecord[]>;
}

/** The texts that a gap record must not reveal. */
export interface Secrets {
  /** Empty for a record that was not made from a question. */
  readonly question: string;
  /** The true answer in all its accepted forms; empty if none is known. */
  readonly answers: readonly string[];
}

export interface Leak {
  readonly what: 'answer' | 'name';
  /** The text as it is in the secrets. It serves to ask for another record and must never be stored. */
  readonly text: string;
}

interface GapOrigin extends Secrets {
  /** The attempt that it was abstracted from; null if a person wrote it. */
  readonly attempt_id: string | null;
}

type GapReceipt =
  | { readonly stored: true; readonly id: number }
  | { readonly stored: false; readonly leaks: readonly Leak[] };

interface GapQuery {
  readonly questionType: string;
  /** Tools that the question certainly needs, such as the reader of its file. */
  readonly tools?: readonly string[];
  readonly question: string;
  /** 1 to 50. */
  readonly limit: number;
}
