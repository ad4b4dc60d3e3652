import type { Store } from '../store.ts';
import { AttemptTable } from './attempt-table.ts';
import { CacheTable } from './cache-table.ts';
import { GapTable } from './gap-table.ts';
import type { SqlDatabase } from './sql-database.ts';
import { SqlTables } from './sql-tables.ts';

/** The store over either database: all that is the same for both, which is all but how they are reached. */
export function sqlStore(database: SqlDatabase, now: () => Date): Store {
  const tables = new SqlTables(database, now);
  const attempts = new AttemptTable(tables);
  const gaps = new GapTable(tables, attempts);
  const cache = new CacheTable(tables);
  return {
    location: database.location,
    recordAttempt: (attempt) => attempts.recordAttempt(attempt),
    attempts: (filter) => attempts.attempts(filter),
    outcomes: (filter) => attempts.outcomes(filter),
    addGapRecord: (record, origin) => gaps.addGapRecord(record, origin),
    gapRecords: (query) => gaps.gapRecords(query),
    gapRecordPage: (page) => gaps.gapRecordPage(page),
    reviewGapRecord: (id, verdict) => gaps.reviewGapRecord(id, verdict),
    cachedAnswer: (key) => cache.cachedAnswer(key),
    cacheAnswer: (key, answer) => cache.cacheAnswer(key, answer),
    exportCache: (filter) => cache.exportCache(filter),
    importCache: (answers, keyOf) => cache.importCache(answers, keyOf),
    close: () => database.close(),
  };
}
