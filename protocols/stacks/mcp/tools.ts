import { MeshError, toErrorMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues, type Packet, parsePacket, shortenReason } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';
import type { Inbox, StackClient } from '../contract/stack.ts';

/** The mesh's one tool: it takes a packet. */
const PACKET_TOOL = 'mesh.packet';

const text = z.string();
const count = z.int().nonnegative();
/**
 * Schema of a packet in `tools/list`, which is the argument of a call, the same for every transport and
 * implementation. The adapter `mcp` writes `id` and `from` elsewhere; here request numbers belong to the
 * transport and a client's name to the session. {@link parsePacket} checks the bounds, once.
 */
const packetSchema = z.strictObject({
  id: text,
  from: text,
  type: text,
  to: text.optional(),
  reply_to: text.optional(),
  task_id: text,
  tag: text.optional(),
  token_used: count,
  log_uri: text.optional(),
  ts: count,
  payload: z.record(z.string(), z.unknown()),
});

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
        return { content: [], structuredContent: { replies } };
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

/** A client of MCP, as far as an exchange of packets needs one. */
interface ToolCalls {
  /** Sets up the session and lists the server's tools. */
  listTools(): Promise<readonly { readonly name: string }[]>;
  /** Resolves with the result of `tools/call`. */
  callTool(
    params: { readonly name: string; readonly arguments: Packet },
    signal: AbortSignal,
  ): Promise<unknown>;
  close(): Promise<void>;
}

/**
 * Connects a client of a stack over any client of MCP, which is closed if that fails.
 *
 * @throws MeshError `packet` for a server that takes no packets
 */
export async function connectPacketTool(calls: ToolCalls): Promise<Omit<StackClient, 'wire'>> {
  try {
    const names = (await calls.listTools()).map(({ name }) => name);
    if (!names.includes(PACKET_TOOL))
      throw new MeshError('packet', `MCP: expected a tool ${PACKET_TOOL}, received ${names}`);
  } catch (error) {
    await calls.close();
    throw error;
  }
  return {
    async exchange(packet, signal) {
      const params = { name: PACKET_TOOL, arguments: packet };
      return parseReplies(await calls.callTool(params, signal), packet.id);
    },
    close: () => calls.close(),
  };
}

const resultSchema = z.object({
  content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional(),
});
const foundSchema = z.object({ replies: z.array(z.unknown()) });

/** @throws MeshError `agent` for failed work, `packet` for a result without packets */
function parseReplies(result: unknown, id: string): readonly Packet[] {
  const { content, structuredContent, isError } = parseContent(resultSchema, result, `the result of ${id}`);
  const [first] = content;
  if (isError === true)
    throw new MeshError('agent', `MCP: the call of ${id} failed: ${shortenReason(first?.text ?? '')}`);
  return parseContent(foundSchema, structuredContent, `the result of ${id}`).replies.map(parsePacket);
}

/** @throws MeshError `packet`, naming the invalid part */
export function parseContent<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const { success, data, error } = schema.safeParse(value);
  if (!success) throw new MeshError('packet', `MCP: ${what}: ${formatIssues(error)}`);
  return data;
}
