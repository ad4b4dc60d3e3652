export type Operation =
  | { readonly method: 'SendMessage' | 'SendStreamingMessage'; readonly params: object }
  | {
      readonly method: 'GetTask' | 'SubscribeToTask' | 'CancelTask';
      readonly params: { readonly id: string };
    };

/** Calls an agent over the transport that its card names; parameters and results are those of A2A's JSON. */
export interface AgentWire {
  /**
   * @throws MeshError `agent` for an agent that went away or a signal that aborted, `packet` for an error of
   * the protocol
   */
  call(operation: Operation, signal: AbortSignal): Promise<unknown>;
  /** Yields the events for a streamed message; an agent that does not stream answers once. */
  events(operation: Operation, signal: AbortSignal): AsyncIterable<unknown>;
  close(): void;
}
