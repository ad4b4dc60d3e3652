import { isJsonObject, type JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';

/** Returns true if a tool passes calls on to a foreign peer, which lists its own tools. */
export function isForeign(tool: string): boolean {
  return tool === 'mcp' || tool === 'a2a';
}

/** Returns true if calls of the tool may use models unseen by this process, unless the user ruled it out. */
export function isUnseen(tool: string, options: JsonObject = {}): boolean {
  return isForeign(tool) && options.asks_models !== false;
}

/** The reply to a request that names no tool. */
export const offerSchema = z.strictObject({
  /** Tools with their whole schemas. */
  tools: z.array(
    z.strictObject({
      name: z.string(),
      description: z.string(),
      parameters: z.custom<JsonObject>(isJsonObject),
    }),
  ),
  /** Tools that exceed the token budget; their schemas are sent on request. */
  deferred: z.array(z.string()),
  /** Tools that cannot be used, each with the reason. */
  refused: z.array(z.string()),
});

/** A connected MCP server or A2A agent. */
export interface ForeignPeer {
  /** The name that it gives itself. */
  readonly name: string;
  readonly tools: readonly ForeignPeerTool[];
  readonly refused: readonly string[];
  call(tool: string, args: JsonObject, options: ForeignCall): Promise<ForeignReply>;
  close(): Promise<void>;
}

interface ForeignPeerTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

interface ForeignCall {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** The W3C trace context that is sent to the other end. */
  readonly traceparent?: string | undefined;
}

/** The checked result of a call. */
export interface ForeignReply {
  readonly texts: readonly string[];
  readonly data?: JsonObject | undefined;
  /** Bytes that are declared to be an image. */
  readonly images: readonly Uint8Array[];
  readonly isError: boolean;
  /** The parts of it that could not be kept, each with the reason. */
  readonly lost: readonly string[];
}
