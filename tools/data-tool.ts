import type { ChatRequest, ChatTurn } from '@gaia-mesh/core/contracts/engine.ts';
import { MeshError, placeMessage } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues, type JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { callType, type Tool, type ToolContext, toResultType } from '@gaia-mesh/core/contracts/tool.ts';
import { USAGE_FILE, type Usage } from '@gaia-mesh/core/contracts/usage.ts';
import { recordWarning, type Warning } from '@gaia-mesh/core/contracts/warning.ts';
import { formatForeignJson } from '@gaia-mesh/core/system/parse-json.ts';
import type * as z from 'zod';

/**
 * A tool that gets or computes something when another agent calls it: search, read a file, calculate. To add one, put a file
 * into the folder of its kind and a line into `tools/registry.ts`.
 */
export interface DataTool<Input extends JsonObject = JsonObject> {
  readonly name: string;
  /** One or two sentences; people read them in `list tools`, models choose the tool by them. */
  readonly description: string;
  /** The arguments. Models see their schema, so each has a `describe`. */
  readonly input: z.ZodType<Input>;

  /** @throws MeshError `tool`, saying what was expected, what came and what to do; the caller gets it as a reply and continues */
  run(input: Input, context: DataToolContext): Promise<DataToolReply>;
}

/** The context in which a data tool runs. */
export interface DataToolContext {
  /** The agent's own folder; the tool writes its files there. */
  readonly workspace: string;
  /** The folder with the files of the task, which need not exist. Undefined if the run has none. */
  readonly files: string | undefined;
  /** The location of the store; only for tools that need it. */
  readonly store: string | undefined;
  /** Keys and URLs of services. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The `options` that the team file gives to this agent. */
  readonly options: JsonObject;
  readonly taskId: string;
  /** The agent's own model, if its engine has one; tools show pictures to it. */
  readonly model?: DataToolModel | undefined;
  /** Records model usage that arose outside this process. */
  readonly noteUsage?: (usage: Usage) => void;
  /** Notes what was lost of a foreign server or of its reply. */
  readonly warn?: (warning: Warning) => void;
  /** Aborted when the run ends. */
  readonly signal: AbortSignal;
  /** The W3C trace context of the call, for foreign servers. */
  readonly traceparent?: string | undefined;
}

/** A model that a data tool may ask. */
interface DataToolModel {
  /** The engine's name. */
  readonly name: string;
  /** @throws MeshError `engine` */
  readonly chat: (request: ChatRequest) => Promise<ChatTurn>;
}

export interface DataToolReply {
  /** The text for the reader (a model, or a person in the log). Cut at {@link MAX_REPLY_CHARACTERS}. */
  readonly text: string;
  /** The content as data, so that programs need not parse the text again; small. */
  readonly data?: JsonObject;
}

/** Maximum characters of a reply: far more than a model can take in, far less than a frame. */
const MAX_REPLY_CHARACTERS = 200_000;

/** Turns a data tool into a {@link Tool}: call → checked arguments → reply, or an error, in a packet. */
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
        warn: (warning) => recordWarning(context, packet.task_id, warning),
        signal,
        traceparent,
        model: createToolModel(context, spec.name),
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
): DataToolModel | undefined {
  const { name, chat, tokenSource } = engine;
  // The embedded engine knows no more than the tool.
  if (chat === undefined || tokenSource === 'embedded') return undefined;
  return { name, chat: (request) => chat(request, { signal, countTokens, role }) };
}

async function runDataTool<Input extends JsonObject>(
  { name, input, run }: DataTool<Input>,
  given: unknown,
  context: DataToolContext,
): Promise<JsonObject> {
  const parsed = input.safeParse(given ?? {});
  if (!parsed.success) {
    const exact = formatForeignJson(given).match(/\d{16,}|\d[eE]\+?\d{3}/)?.[0];
    const hint =
      exact === undefined ? '' : `; ${exact} is beyond the numbers that are exact here: give it as a text`;
    return buildFailure('tool', `${name}: arguments: ${formatIssues(parsed.error)}${hint}`);
  }
  try {
    const reply = await run(parsed.data, context);
    const text = cutReply(reply.text.toWellFormed());
    return reply.data === undefined ? { text } : { text, data: reply.data };
  } catch (error) {
    // A bug ends the task, as it does in every tool.
    if (!(error instanceof MeshError)) throw error;
    return buildFailure(error.code, placeMessage(name, error.message));
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
