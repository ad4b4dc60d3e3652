import type { ChatRequest, ChatTurn } from '@gaia-mesh/core/contracts/engine.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues, type JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { callType, type Tool, type ToolContext, toResultType } from '@gaia-mesh/core/contracts/tool.ts';
import { USAGE_FILE, type Usage } from '@gaia-mesh/core/contracts/usage.ts';
import type * as z from 'zod';

/**
 * A tool that gets something or works something out when another agent asks: search, read a file, calculate. To add one: a
 * file in the folder of its kind, a line in `tools/registry.ts`.
 */
export interface DataTool<Input extends JsonObject = JsonObject> {
  readonly name: string;
  /** One or two sentences: a person reads them in `list tools`, a model chooses by them. */
  readonly description: string;
  /** The arguments; a model sees their schema, so each has a `describe`. */
  readonly input: z.ZodType<Input>;

  /** @throws MeshError `tool`, saying what was expected, what came and what to do: whoever asked is told, and goes on */
  run(input: Input, context: DataToolContext): Promise<DataToolReply>;
}

/** Where a data tool finds itself. */
export interface DataToolContext {
  /** The agent's own folder: what it leaves goes here. */
  readonly workspace: string;
  /** The folder with the files of the task; it need not exist. Undefined where the run has none. */
  readonly files: string | undefined;
  /** Where the store is; only for tools that need it. */
  readonly store: string | undefined;
  /** Keys and addresses of services. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What the team file says to this agent (`options`). */
  readonly options: JsonObject;
  readonly taskId: string;
  /** The agent's own model, where its engine has one: pictures are shown to it. */
  readonly model?: DataToolModel;
  /** Notes what a model took that this process did not ask itself. */
  readonly noteUsage?: (usage: Usage) => void;
  /** Aborted when the run ends. */
  readonly signal: AbortSignal;
  /** The trace context (W3C) of the call, for servers of others. */
  readonly traceparent?: string;
}

/** A model that a data tool may ask. */
export interface DataToolModel {
  /** Of the engine. */
  readonly name: string;
  /** @throws MeshError `engine` */
  readonly chat: (request: ChatRequest) => Promise<ChatTurn>;
}

export interface DataToolReply {
  /** What a reader (a model, or a person in the log) gets. Cut at {@link MAX_REPLY_CHARACTERS}. */
  readonly text: string;
  /** The same for programs, where a text would have to be parsed again; small. */
  readonly data?: JsonObject;
}

/** Far above what a model can take in, far below a frame. */
const MAX_REPLY_CHARACTERS = 200_000;

/** Makes a {@link Tool} of it: call → checked arguments → reply, or what went wrong, in a packet. */
export function createDataTool<Input extends JsonObject>(spec: DataTool<Input>): Tool {
  return {
    name: spec.name,
    description: spec.description,
    accepts: [callType(spec.name)],
    emits: [toResultType(spec.name)],
    async run(packet, context) {
      const { workspace, files, store, options, signal, traceparent, record } = context;
      const reply = await runDataTool(spec, packet.payload.arguments, {
        workspace,
        files,
        store,
        options,
        environment: process.env,
        taskId: packet.task_id,
        noteUsage: (usage) => record(USAGE_FILE, { task_id: packet.task_id, ...usage }),
        signal,
        ...(traceparent === undefined ? {} : { traceparent }),
        ...createToolModel(context, spec.name),
      });
      record('calls.log', {
        task_id: packet.task_id,
        call: packet.id,
        arguments: packet.payload.arguments ?? null,
        ...reply,
      });
      return [{ type: toResultType(spec.name), to: packet.from, reply_to: packet.id, payload: reply }];
    },
  };
}

function createToolModel(
  { engine, signal, countTokens }: ToolContext,
  role: string,
): Pick<DataToolContext, 'model'> {
  const { name, chat, tokenSource } = engine;
  // The embedded engine knows no more than the tool.
  if (chat === undefined || tokenSource === 'embedded') return {};
  return { model: { name, chat: (request) => chat(request, { signal, countTokens, role }) } };
}

async function runDataTool<Input extends JsonObject>(
  { name, input, run }: DataTool<Input>,
  given: unknown,
  context: DataToolContext,
): Promise<JsonObject> {
  const parsed = input.safeParse(given ?? {});
  if (!parsed.success) return buildFailure('tool', `${name}: arguments: ${formatIssues(parsed.error)}`);
  try {
    const { text, data } = await run(parsed.data, context);
    return { text: cutReply(text.toWellFormed()), ...(data === undefined ? {} : { data }) };
  } catch (error) {
    // A bug ends the task, as in every tool.
    if (!(error instanceof MeshError)) throw error;
    return buildFailure(error.code, `${name}: ${error.message}`);
  }
}

function buildFailure(code: string, message: string): JsonObject {
  return { error: { code, message: message.toWellFormed() } };
}

function cutReply(text: string): string {
  if (text.length <= MAX_REPLY_CHARACTERS) return text;
  const left = text.length - MAX_REPLY_CHARACTERS;
  return `${text.slice(0, MAX_REPLY_CHARACTERS).toWellFormed()}\n[cut: ${left} more characters]`;
}
