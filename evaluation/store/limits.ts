/** Every bound of the store, in one place, with its reason; those of its records are beside them (`tools/roles/memory/storable.ts`). */

/** Distinct words of a gap record that are indexed, and of a question that are looked for: a database's query has an end. */
export const MAX_INDEXED_TERMS = 2_000;
export const MAX_QUERY_TERMS = 100;

/** A longer run of letters is no word; Postgres refuses lexemes above 2046 bytes. */
export const MAX_TERM_CHARACTERS = 64;

/** Whole attempts of one page: with their traces they are large. */
export const MAX_ATTEMPTS_PER_PAGE = 50;

/**
 * Attempts of one report. Far above 1,000 questions in 50 cycles. One more is refused instead of left out: a report over a part
 * of the attempts would have the wrong denominator.
 */
export const MAX_OUTCOMES = 100_000;

/** Gap records of one brief. More than a planner weighs. */
export const MAX_GAP_RECORDS = 50;

/** Gap records that the database proposes by type, and as many by their words, for the ranking that decides. */
export const MAX_GAP_CANDIDATES = 200;

/** Answers of one export, the newest; as many are imported from one file. */
export const MAX_CACHE_ENTRIES = 100_000;

/** `agent_cache.json`: that many entries of a long question each. It is read whole. */
export const MAX_CACHE_FILE_BYTES = 256 * 1024 * 1024;

/** A busy SQLite file is asked again for this long: other processes' transactions take milliseconds. */
export const BUSY_TIMEOUT_MS = 10_000;

/** Connections of one process to Postgres: a store is asked now and then, and hosted databases allow some dozens in all. */
export const MAX_CONNECTIONS = 4;

/** Reaching a database elsewhere, TLS included. */
export const CONNECT_TIMEOUT_MS = 10_000;

/** One statement. The largest attempt over a slow line takes seconds. */
export const QUERY_TIMEOUT_MS = 60_000;

/** Attempts of one question that are recorded at the same moment contend for the next number. Each loss is another's success. */
export const MAX_NUMBERING_TRIES = 50;

/** Files that were set aside under one name. Who has not looked at 1,000 of them will not look at the next. */
export const MAX_SET_ASIDE = 1_000;
