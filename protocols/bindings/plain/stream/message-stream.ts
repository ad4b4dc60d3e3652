/** Messages both ways between two ends, in order, each whole: behind lengths on a socket, in frames of WebSocket. */
export interface MessageStream {
  readonly isClosed: boolean;
  send(message: Uint8Array): void;
  close(): void;
}

/** What one end does with what comes. */
export interface StreamHandler {
  /** `message` is the receiver's for as long as the call takes. */
  onMessage(message: Uint8Array): void;
  /** No message comes any more. `error` says why, unless it was closed in peace. */
  onClose(error?: Error): void;
}
