import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';

/** What a column can be given. */
export type SqlValue = string | number | boolean | null;

/** Parameters are `$1`, `$2`, …: nothing that a user wrote is ever part of the text. */
export interface Statement {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

export type Row = Readonly<Record<string, unknown>>;

/** A database under the store. Whatever goes wrong in it is a MeshError `store` with what the user can do about it. */
export interface SqlDatabase {
  /** File or address, for messages; never with a password. */
  readonly location: string;
  /**
   * Text of the query for the ids of gap records that fit `condition` and have any of some terms, the best first: `$1` is what
   * {@link SqlDatabase.anyOf} makes of the terms.
   */
  termSearch(condition: string): string;
  /** A search for any of these terms (letters and digits only), as a parameter. */
  anyOf(terms: readonly string[]): string;
  read(statement: Statement): Promise<Row[]>;
  /** All of them or none. Resolves when they are on disk. */
  write(statements: readonly Statement[]): Promise<Row[][]>;
  close(): Promise<void>;
}

/** @throws MeshError `store` for a store that a newer version wrote: an older one would misread or damage it */
export function checkSchemaVersion(version: number, known: number, location: string): void {
  if (version <= known) return;
  throw new MeshError(
    'store',
    `${location} was written by a newer Gaia Mesh (schema version ${version}, this one knows ${known}): update Gaia Mesh, or ` +
      'name another store',
  );
}
