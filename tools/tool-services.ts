import type { ForeignPeer } from './foreign/foreign.ts';
import type { AttemptMemory } from './roles/memory/attempt-memory.ts';

/** A server of MCP: a program that is started, or an address. */
type McpEndpoint =
  | {
      readonly command: string;
      readonly args: readonly string[];
      readonly environment: Readonly<Record<string, string>>;
      readonly folder: string;
      readonly maxMessageBytes: number;
    }
  | { readonly url: string; readonly token?: string | undefined; readonly maxMessageBytes: number };

/** An agent of A2A, by its card. */
interface A2aEndpoint {
  readonly url: string;
  readonly token?: string;
  readonly later?: 'stream' | 'poll' | 'push';
  readonly maxMessageBytes: number;
}

/** Whether an answer is right, by the scorer of the benchmark. */
export type IsRight = (answer: string, truth: string) => boolean;

/** What some tools need of the rooms above them. Whoever starts an agent hands it in; each is loaded when a tool asks for it. */
export interface ToolServices {
  /** @param place a file, or the URL of a server */
  readonly openMemory: (place: string) => Promise<AttemptMemory>;
  readonly loadScorer: () => Promise<IsRight>;
  readonly connectMcp: (endpoint: McpEndpoint, signal: AbortSignal) => Promise<ForeignPeer>;
  readonly connectA2a: (endpoint: A2aEndpoint, signal: AbortSignal) => Promise<ForeignPeer>;
}

/** For tools that need none, and for whoever only wants to know what tools there are. */
export const noServices: ToolServices = {
  openMemory: () => Promise.reject(new Error('this process has no memory of attempts')),
  loadScorer: () => Promise.reject(new Error('this process has no scorer')),
  connectMcp: () => Promise.reject(new Error('this process connects to no server of MCP')),
  connectA2a: () => Promise.reject(new Error('this process connects to no agent of A2A')),
};
