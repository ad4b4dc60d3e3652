/** A file in memory. */
export interface LoadedFile {
  /** The name, for messages and for its extension. */
  readonly name: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}
