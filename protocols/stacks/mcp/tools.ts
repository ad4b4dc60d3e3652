import { toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { parsePacket, shortenReason } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import type { Inbox, StackSettings } from '../contract/stack.ts';
import { buildCallResult, packetSchema } from './packets.ts';
import { PACKET_TOOL } from './revision.ts';

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
export type ToolContent =
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
export function createPacketTool(inbox: Inbox, { results }: Pick<StackSettings, 'results'>): McpTool {
  return {
    name: PACKET_TOOL,
    description: 'Takes one packet of the mesh and answers it',
    inputSchema: packetSchema,
    outputSchema: results === 'text' ? undefined : repliesSchema,
    async call(args, { signal, progress }) {
      try {
        const packet = parsePacket(args);
        await progress(0, 1);
        return buildCallResult(await inbox(packet, signal), results);
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
