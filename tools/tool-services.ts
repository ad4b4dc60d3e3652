import type { ForeignPeer } from './foreign/foreign.ts';
import type { AttemptMemory } from './roles/memory/attempt.ts';

/** An MCP server: a program to start, or a URL. */
type McpEndpoint = (
  | {
      readonly command: string;
      readonly args: readonly string[];
      readonly environment: Readonly<Record<string, string>>;
      readonly folder: string;
    }
  | { readonly url: string; readonly token?: string | undefined }
) & { readonly maxMessageBytes: number; readonly startMs?: number | undefined };

/** An A2A agent, by the URL of its card. */
interface A2aEndpoint {
  readonly url: string;
  readonly token?: string | undefined;
  readonly later?: 'stream' | 'poll' | 'push' | undefined;
  readonly maxMessageBytes: number;
}

/** Returns true if the benchmark's scorer accepts the answer. */
export type IsRight = (answer: string, truth: string) => boolean;

/** Services of higher packages that some tools need. The launcher of an agent passes them in; each is loaded when a tool asks for it. */
export interface ToolServices {
  /** @param place a file, or the URL of a server */
  readonly openMemory: (place: string) => Promise<AttemptMemory>;
  readonly loadScorer: () => Promise<IsRight>;
  readonly connectMcp: (endpoint: McpEndpoint, signal: AbortSignal) => Promise<ForeignPeer>;
  readonly connectA2a: (endpoint: A2aEndpoint, signal: AbortSignal) => Promise<ForeignPeer>;
}

/** The services for tools that need none, and for code that only lists the tools. */
export const noServices: ToolServices = {
  openMemory: () => Promise.reject(new Error('this process has no memory of attempts')),
  loadScorer: () => Promise.reject(new Error('this process has no scorer')),
  connectMcp: () => Promise.reject(new Error('this process cannot connect to MCP servers')),
  connectA2a: () => Promise.reject(new Error('this process cannot connect to A2A agents')),
};
