/** An open database. All its faults are MeshErrors `store` with advice for the user. */
export interface SqlDatabase {
  readonly kind: 'sqlite' | 'postgres';
  /** File or address, for messages; never with a password. */
  readonly location: string;
  connect(): Promise<SqlConnection>;
  close(): Promise<void>;
}

export interface SqlConnection {
  /** Runs one statement and returns its rows. A write outside a transaction is on disk when it resolves. */
  query(text: string, parameters: readonly unknown[]): Promise<unknown[]>;
  /** Gives the connection back. After a failure it is closed, because its transaction may be half done. */
  release(): void;
}
