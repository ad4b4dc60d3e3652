import { toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { parsePacket, shortenReason } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import type { Inbox, StackTraits } from '../contract/stack.ts';
import { packetSchema, packetToArguments } from './packets.ts';
import { PACKET_TOOL } from './revision.ts';

/** Traits of MCP: a call has a result, which holds the replies. */
export const mcpHttpTraits: StackTraits = {
  oneWay: 'acknowledged',
  hasTls: true,
  largestMessageBytes: null,
};

/** Schema of the tool's result. */
const repliesSchema = z.strictObject({ replies: z.array(packetSchema) });

/** A tool of a server, the same for a server of the SDK and for a bare one. */
export interface McpTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: z.ZodObject;
  /** Schema of `structuredContent`, which every successful result must have if there is one. */
  readonly outputSchema?: z.ZodObject | undefined;
  /** Its entry in `tools/list`, in place of the one that the schemas make. */
  readonly entry?: object | undefined;
  call(args: unknown, context: ToolContext): Promise<ToolResult>;
}

interface ToolContext {
  readonly signal: AbortSignal;
  /** Reports progress if the client asked for it; otherwise it does nothing. */
  progress(progress: number, total?: number, message?: string): Promise<void>;
}

/** Kinds of `ContentBlock`. */
type ToolContent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string }
  | {
      readonly type: 'resource';
      readonly resource: { readonly uri: string; readonly mimeType: string; readonly text: string };
    };

/** `CallToolResult` without the fields that the server adds. */
export interface ToolResult {
  readonly content: readonly ToolContent[];
  readonly structuredContent?: object;
  readonly isError?: boolean;
}

/** Creates the tool that hands packets to `inbox`. */
export function createPacketTool(inbox: Inbox): McpTool {
  return {
    name: PACKET_TOOL,
    description: 'Takes one packet of the mesh and answers it',
    inputSchema: packetSchema,
    outputSchema: repliesSchema,
    async call(args, { signal }) {
      try {
        const replies = await inbox(parsePacket(args), signal);
        return { content: [], structuredContent: { replies: replies.map(packetToArguments) } };
      } catch (error) {
        // A tool's own failure is a result that a model can read (server/tools, "Error Handling").
        return { content: [{ type: 'text', text: shortenReason(toErrorMessage(error)) }], isError: true };
      }
    },
  };
}

/** Describes a tool as `tools/list` has it. */
export function describeTool({ name, description, inputSchema, outputSchema, entry }: McpTool): object {
  return (
    entry ?? {
      name,
      description,
      inputSchema: z.toJSONSchema(inputSchema),
      outputSchema: outputSchema && z.toJSONSchema(outputSchema),
    }
  );
}
