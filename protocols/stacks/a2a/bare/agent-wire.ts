export type Operation =
  | { readonly method: 'SendMessage' | 'SendStreamingMessage'; readonly params: object }
  | {
      readonly method: 'GetTask' | 'SubscribeToTask' | 'CancelTask';
      readonly params: { readonly id: string };
    };

/** How an agent is asked, whichever transport its card names: parameters and results are those of A2A's JSON. */
export interface AgentWire {
  /** @throws MeshError `agent` for one that went away or a signal that aborted, `packet` for an error of the protocol */
  call(operation: Operation, signal: AbortSignal): Promise<unknown>;
  /** What comes of a message that is streamed; an agent that does not stream answers once. */
  events(operation: Operation, signal: AbortSignal): AsyncIterable<unknown>;
  close(): void;
}
