import type {
  ChatRequest,
  ChatTurn,
  EngineWork,
  ModelUsage,
  Step,
} from '@gaia-mesh/core/contracts/engine.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { formatIssues, isJsonObject, type JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { type Partner, type ToolContext, TRACE_FILE } from '@gaia-mesh/core/contracts/tool.ts';
import { toUsage, UsageBook, usageSchema } from '@gaia-mesh/core/contracts/usage.ts';
import { recordWarning } from '@gaia-mesh/core/contracts/warning.ts';
import * as z from 'zod';
import { Trace, type TraceEntry, traceEntrySchema } from './trace.ts';

/**
 * The part of a question's remaining time that a role may take when it is asked, by its tool. The asking agent keeps time for the roles
 * after it, and for reporting the result. A role that is asked again gets its part of the time that remains then.
 */
export const TIME_SHARES: Readonly<Record<string, number>> = {
  plan: 0.3,
  research: 0.5,
  critique: 0.3,
  expert: 0.7,
  finalize: 0.9,
  answer: 0.8,
  execute: 0.8,
  diagnose: 0.5,
  abstract: 0.9,
};

/** The part for a user's own role. */
const OTHERS = 0.9;

const findTimeShare = (tool: string | undefined): number => TIME_SHARES[tool ?? ''] ?? OTHERS;

/** The reply of a data tool: a text, or an error. */
type ToolReply =
  | { readonly text: string; readonly data?: JsonObject }
  | { readonly error: { readonly code: string; readonly message: string } };

const toolReplySchema = z.union([
  z.object({ error: z.object({ code: z.string(), message: z.string() }) }),
  z.object({ text: z.string(), data: z.custom<JsonObject>(isJsonObject).exactOptional() }),
]);

interface RoleStep<Result extends JsonObject>
  extends Pick<Step<Result>, 'input' | 'embedded'>,
    Pick<Step<Result>['model'], 'prompt' | 'variables'> {
  readonly reply: z.ZodType<Result>;
}

/** The fields that every role sends with its result. */
const roleReplySchema = z.looseObject({
  error: z.object({ code: z.string(), message: z.string() }).exactOptional(),
  trace: z.array(traceEntrySchema).default([]),
  usage: z.array(usageSchema).default([]),
});

const timeoutSchema = z.looseObject({
  /** A video takes minutes; after a longer wait for one tool no time is left to try another way. */
  tool_timeout_s: z.number().positive().default(240),
});

/**
 * The work of a role for one packet: it uses the engine, calls data tools and other roles, and keeps the trace and the usage,
 * which are sent with the result.
 */
export class RoleWork {
  /** The role's name in the trace and in the usage. */
  readonly role: string;
  readonly trace = new Trace();
  readonly usage = new UsageBook();
  readonly context: ToolContext;
  /** Name of the file that belongs to the question. */
  readonly file: string | undefined;
  #endMs = Number.POSITIVE_INFINITY;
  #time: AbortSignal | undefined;

  readonly #taskId: string;
  readonly #isSecret: boolean;

  /** @param options `isSecret`: only the asking agent gets the steps, and no record of the task shows them */
  constructor(
    role: string,
    context: ToolContext,
    {
      taskId,
      file,
      isSecret = false,
    }: { readonly taskId: string; readonly file?: string | undefined; readonly isSecret?: boolean },
  ) {
    this.role = role;
    this.context = context;
    this.file = file;
    this.#taskId = taskId;
    this.#isSecret = isSecret;
  }

  /** Breaks off the engine's work and calls after this time, so that the role can still report what happened. */
  limitTo(seconds: number): void {
    this.#endMs = performance.now() + seconds * 1000;
    this.#time = AbortSignal.timeout(Math.ceil(seconds * 1000));
  }

  /** Infinite if there is no limit. */
  get secondsLeft(): number {
    return Math.max(0, this.#endMs - performance.now()) / 1000;
  }

  get isOutOfTime(): boolean {
    return this.#time?.aborted === true || this.secondsLeft === 0;
  }

  /** Returns true if a failure only means that the time is up, here or in a role that was asked. */
  isTimeUp(error: unknown): boolean {
    return this.isOutOfTime || (error instanceof MeshError && error.code === 'limit');
  }

  /** Returns the failure to report to the asking agent; throws a bug on, which ends the task as in every tool. */
  toFailure(error: unknown): MeshError {
    // Work that was broken off fails with errors of its own.
    if (this.isOutOfTime && !this.context.signal.aborted)
      return new MeshError('limit', `${this.role}: its time was up`, { cause: error });
    if (error instanceof MeshError) return error;
    throw error;
  }

  /**
   * Parses the agent's options in the team file.
   *
   * @throws MeshError `config` with the key that cannot be used (REQ-076)
   */
  options<Options>(schema: z.ZodType<Options>): Options {
    const parsed = schema.safeParse(this.context.options);
    if (parsed.success) return parsed.data;
    throw new MeshError('config', `options of the agent with ${this.role}: ${formatIssues(parsed.error)}`);
  }

  note(text: string): void {
    this.#step({ by: this.role, kind: 'note', text });
  }

  reasoning(text: string): void {
    this.#step({ by: this.role, kind: 'reasoning', text });
  }

  result(text: string): void {
    this.#step({ by: this.role, kind: 'result', text });
  }

  /** Does one structured step with the engine, whose result has the form of a model's reply. */
  perform<Result extends JsonObject>({ input, embedded, prompt, variables, reply }: RoleStep<Result>) {
    const model = { prompt, variables, reply, result: (given: unknown) => reply.parse(given) };
    return this.context.engine.perform<Result>({ input, embedded, model }, this.#engineWork());
  }

  /** Does one turn of a conversation with the engine. */
  async chat(request: ChatRequest): Promise<ChatTurn> {
    const { chat, name } = this.context.engine;
    if (chat === undefined)
      throw new MeshError('engine', `the engine ${name} has no \`chat\`, which the role ${this.role} needs`);
    return chat(request, this.#engineWork());
  }

  /** Calls the data tool `tool`. A failure is a reply, too, and the role continues without the tool. */
  async use(tool: string, args: JsonObject): Promise<ToolReply> {
    return this.#noteReply(tool, args, await this.askTool(tool, args, this.#time));
  }

  /** Does the same as {@link RoleWork.use} with one of several agents that have the tool; `name` is the model's name for it. */
  async usePartner(partner: Partner, name: string, args: JsonObject): Promise<ToolReply> {
    return this.#noteReply(name, args, await this.askPartner(partner, args, this.#time));
  }

  #noteReply(tool: string, args: JsonObject, reply: ToolReply): ToolReply {
    const by = this.role;
    if ('error' in reply)
      this.#step({ by, kind: 'tool', tool, arguments: args, text: reply.error.message, failed: true });
    else this.#step({ by, kind: 'tool', tool, arguments: args, text: reply.text });
    return reply;
  }

  /**
   * Does the same as {@link RoleWork.use} without a trace entry: for calls that are no step towards the answer, and for secrets. It also
   * works after the time is up, so that the attempt can be stored.
   */
  async askTool(tool: string, args: JsonObject, signal?: AbortSignal): Promise<ToolReply> {
    const partner = this.context.partners.find((candidate) => candidate.tool === tool);
    if (partner === undefined) {
      return { error: { code: 'tool', message: `no agent with the tool ${tool} is among its partners` } };
    }
    return this.askPartner(partner, args, signal);
  }

  /** Does the same as {@link RoleWork.askTool} with this agent. */
  async askPartner({ id, tool }: Partner, args: JsonObject, signal?: AbortSignal): Promise<ToolReply> {
    const { tool_timeout_s } = this.options(timeoutSchema);
    try {
      const timeoutMs = tool_timeout_s * 1000;
      const reply = await this.context.ask(id, { arguments: args }, { timeoutMs, signal });
      const parsed = toolReplySchema.safeParse(reply);
      if (parsed.success) return parsed.data;
      const message = `${tool} sent an invalid reply`;
      recordWarning(this.context, this.#taskId, { lost: 'reply', where: `${id} (${tool})`, why: message });
      return { error: { code: 'packet', message } };
    } catch (error) {
      // The agent is gone or silent, or the arguments cannot be sent: the role may find another way.
      const isReported = error instanceof MeshError && (error.code === 'agent' || error.code === 'packet');
      if (!isReported || this.context.signal.aborted) throw error;
      recordWarning(this.context, this.#taskId, {
        lost: 'reply',
        where: `${id} (${tool})`,
        why: error.message,
      });
      return { error: { code: error.code, message: error.message } };
    }
  }

  /**
   * Asks another role, and adds its usage and, by default, its trace to those of this role. It gets its part of the remaining time
   * ({@link TIME_SHARES}).
   *
   * @returns its result, parsed with `schema`
   * @throws MeshError with the code of the role's failure; `packet` for an invalid reply
   */
  async askRole<Result>(
    partner: string,
    payload: JsonObject,
    schema: z.ZodType<Result>,
    { takesTrace = true }: { readonly takesTrace?: boolean } = {},
  ): Promise<Result> {
    if (this.isOutOfTime) throw new MeshError('limit', 'its time was up');
    const { error, trace, usage, ...result } = parsePartnerReply(
      partner,
      await this.context.ask(partner, { ...payload, ...this.#shareTime(partner) }, { signal: this.#time }),
      roleReplySchema,
    );
    if (takesTrace) this.trace.addAll(trace);
    for (const entry of usage) this.usage.add(entry);
    if (error !== undefined) throw new MeshError(toErrorCode(error.code), `${partner}: ${error.message}`);
    return parsePartnerReply(partner, result, schema);
  }

  #shareTime(partner: string): { readonly time_s?: number } {
    if (this.secondsLeft === Number.POSITIVE_INFINITY) return {};
    const tool = this.context.partners.find(({ id }) => id === partner)?.tool;
    return { time_s: findTimeShare(tool) * this.secondsLeft };
  }

  /** Records the step at once, so that a task which fails or runs out of time shows how far it came. */
  #step(entry: TraceEntry): void {
    const bounded = this.trace.add(entry);
    if (bounded !== undefined && !this.#isSecret)
      this.context.record(TRACE_FILE, { task_id: this.#taskId, ...bounded });
  }

  #engineWork(): EngineWork {
    const { signal, countTokens } = this.context;
    return {
      signal: this.#time === undefined ? signal : AbortSignal.any([signal, this.#time]),
      countTokens,
      role: this.role,
      countUsage: (usage: ModelUsage) => this.usage.add(toUsage(this.role, usage)),
      onNote: (note: string) => this.note(note),
    };
  }
}

function parsePartnerReply<Result>(partner: string, reply: unknown, schema: z.ZodType<Result>): Result {
  const parsed = schema.safeParse(reply);
  if (parsed.success) return parsed.data;
  throw new MeshError('packet', `${partner} sent an invalid reply: ${formatIssues(parsed.error)}`);
}

const CODES = ['engine', 'reply', 'tool', 'store', 'limit', 'config', 'packet'] as const;

function toErrorCode(code: string): MeshError['code'] {
  return CODES.find((known) => known === code) ?? 'agent';
}
