import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';

/** Value of a parameter. */
export type SqlValue = string | number | boolean | null;

/** A statement with parameters `$1`, `$2`, …; user input is never part of the text. */
export interface Statement {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

export type Row = Readonly<Record<string, unknown>>;

/** A database of the store. All its faults are MeshErrors `store` with advice for the user. */
export interface SqlDatabase {
  /** File or address, for messages; never with a password. */
  readonly location: string;
  /**
   * Returns the query for the ids of gap records that fit `condition` and have any of some terms, the best first. Its parameter
   * `$1` comes from {@link SqlDatabase.anyOf}.
   */
  termSearch(condition: string): string;
  /** Returns the parameter of a search for any of these terms (letters and digits only). */
  anyOf(terms: readonly string[]): string;
  read(statement: Statement): Promise<Row[]>;
  /** Runs all statements or none. Resolves when they are on disk. */
  write(statements: readonly Statement[]): Promise<Row[][]>;
  close(): Promise<void>;
}

/**
 * Refuses a store of a newer version, which this version would misread or damage.
 *
 * @throws MeshError `store`
 */
export function checkSchemaVersion(version: number, known: number, location: string): void {
  if (version <= known) return;
  throw new MeshError(
    'store',
    `${location} was written by a newer Gaia Mesh (schema version ${version}, this one knows ${known}): update Gaia Mesh, or ` +
      'name another store',
  );
}
