/**
 * Every bound of the store with its reason, in one place. The bounds of its records are beside them
 * (`tools/roles/memory/storable.ts`).
 */

/** Maximum distinct words of a gap record in the index, and of a question in a search, so that a query's size is bounded. */
export const MAX_INDEXED_TERMS = 2_000;
export const MAX_QUERY_TERMS = 100;

/** Maximum characters of a term. A longer run of letters is not a word; Postgres refuses lexemes above 2046 bytes. */
export const MAX_TERM_CHARACTERS = 64;

/** Maximum attempts of a page. They are large, since they include their traces. */
export const MAX_ATTEMPTS_PER_PAGE = 50;

/** Maximum gap records of a brief: more than a planner weighs. */
export const MAX_GAP_RECORDS = 50;

/** Maximum gap records that the database proposes by type, and as many by words, for the final ranking. */
export const MAX_GAP_CANDIDATES = 200;

/** Maximum answers of an export, which takes the newest ones, and of an import. */
export const MAX_CACHE_ENTRIES = 100_000;

/** Maximum bytes of `agent_cache.json`, which is read as a whole: room for that many entries with long questions. */
export const MAX_CACHE_FILE_BYTES = 64 * 1024 * 1024;

/** Time for which a busy SQLite file is retried; transactions of other processes take milliseconds. */
export const BUSY_TIMEOUT_MS = 10_000;

/**
 * Maximum connections of a process to Postgres. A store is used now and then, and hosted databases allow some dozens of
 * connections in all.
 */
export const MAX_CONNECTIONS = 4;

/** Timeout for connecting to a remote database, TLS included. */
export const CONNECT_TIMEOUT_MS = 10_000;

/** Timeout of one statement. The largest attempt takes seconds over a slow line. */
export const QUERY_TIMEOUT_MS = 60_000;

/**
 * Maximum tries for an attempt's number. Attempts of one question recorded at the same moment contend for the next number, and
 * one of them succeeds in each round.
 */
export const MAX_NUMBERING_TRIES = 50;

/** Maximum files set aside under one name. A user who has ignored 1,000 of them will ignore the next. */
export const MAX_SET_ASIDE = 1_000;
