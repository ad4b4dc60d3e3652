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
import * as z from 'zod';
import { Trace, type TraceEntry, traceEntrySchema } from './trace.ts';

/**
 * Of a question's time that is left when a role is asked, the part that it may take, by its tool. Who asked then still has time for those
 * that come after it, and in the end to say what there is. A role that is asked again has its part of what is left by then.
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

/** For a role of the user's. */
const OTHERS = 0.9;

const findTimeShare = (tool: string | undefined): number => TIME_SHARES[tool ?? ''] ?? OTHERS;

/** What a data tool said: a text, or why not. */
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

/** What every role sends with its result. */
const roleReplySchema = z.looseObject({
  error: z.object({ code: z.string(), message: z.string() }).exactOptional(),
  trace: z.array(traceEntrySchema).default([]),
  usage: z.array(usageSchema).default([]),
});

const timeoutSchema = z.looseObject({
  /** A video takes minutes; who waits longer than this for one tool has no time left for another way. */
  tool_timeout_s: z.number().positive().default(240),
});

/**
 * The work of a role for one packet: it thinks with the engine, asks data tools and other roles, and keeps what happened
 * and what it took, which travel back with the result.
 */
export class RoleWork {
  /** Who it is in the trace and in the usage. */
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

  /** @param options `isSecret`: its steps are for who asked alone, and no record of the task shows them */
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

  /** What it asks for is broken off after this time, so that it can still say what happened. */
  limitTo(seconds: number): void {
    this.#endMs = performance.now() + seconds * 1000;
    this.#time = AbortSignal.timeout(Math.ceil(seconds * 1000));
  }

  /** Infinite where it has no limit. */
  get secondsLeft(): number {
    return Math.max(0, this.#endMs - performance.now()) / 1000;
  }

  get isOutOfTime(): boolean {
    return this.#time?.aborted === true || this.secondsLeft === 0;
  }

  /** Whether a failure only says that the time is up, here or at a role that was asked. */
  isTimeUp(error: unknown): boolean {
    return this.isOutOfTime || (error instanceof MeshError && error.code === 'limit');
  }

  /** A failure that is told to whoever asked; a bug is thrown on, and ends the task as in every tool. */
  failureOf(error: unknown): MeshError {
    // Whatever was broken off then says so in its own way.
    if (this.isOutOfTime && !this.context.signal.aborted)
      return new MeshError('limit', `${this.role}: its time was up`, { cause: error });
    if (error instanceof MeshError) return error;
    throw error;
  }

  /**
   * What the team file says to this agent.
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

  /** One structured step of the engine, whose result is what a model is to reply. */
  perform<Result extends JsonObject>({ input, embedded, prompt, variables, reply }: RoleStep<Result>) {
    const model = { prompt, variables, reply, result: (given: unknown) => reply.parse(given) };
    return this.context.engine.perform<Result>({ input, embedded, model }, this.#engineWork());
  }

  /** One turn of a conversation with the engine. */
  async chat(request: ChatRequest): Promise<ChatTurn> {
    const { chat, name } = this.context.engine;
    if (chat === undefined)
      throw new MeshError('engine', `the engine ${name} has no \`chat\`, which the role ${this.role} needs`);
    return chat(request, this.#engineWork());
  }

  /** Asks the agent that has the data tool `tool`. A failure is an answer too: whoever asked goes on without it. */
  async use(tool: string, args: JsonObject): Promise<ToolReply> {
    return this.#noted(tool, args, await this.askTool(tool, args, this.#time));
  }

  /** As {@link RoleWork.use}, of a tool that one of several agents of its kind has: `name` is what the model calls it. */
  async useOf(partner: Partner, name: string, args: JsonObject): Promise<ToolReply> {
    return this.#noted(name, args, await this.askPartner(partner, args, this.#time));
  }

  #noted(tool: string, args: JsonObject, reply: ToolReply): ToolReply {
    const failed = 'error' in reply;
    this.#step({
      by: this.role,
      kind: 'tool',
      tool,
      arguments: args,
      text: failed ? reply.error.message : reply.text,
      ...(failed ? { failed } : {}),
    });
    return reply;
  }

  /**
   * As {@link RoleWork.use}, without a word in the trace: for what is no step towards the answer, and for secrets. It may be asked when
   * the time is up: what happened is kept then.
   */
  async askTool(tool: string, args: JsonObject, signal?: AbortSignal): Promise<ToolReply> {
    const partner = this.context.partners.find((candidate) => candidate.tool === tool);
    if (partner === undefined) {
      return { error: { code: 'tool', message: `no agent with the tool ${tool} may be asked here` } };
    }
    return this.askPartner(partner, args, signal);
  }

  /** As {@link RoleWork.askTool}, of this agent. */
  async askPartner({ id, tool }: Partner, args: JsonObject, signal?: AbortSignal): Promise<ToolReply> {
    const { tool_timeout_s } = this.options(timeoutSchema);
    try {
      const timeoutMs = tool_timeout_s * 1000;
      const reply = await this.context.ask(id, { arguments: args }, { timeoutMs, signal });
      const parsed = toolReplySchema.safeParse(reply);
      if (parsed.success) return parsed.data;
      return { error: { code: 'packet', message: `${tool} replied in no known form` } };
    } catch (error) {
      // The agent is gone or silent, or the arguments cannot travel: another way may do.
      const isTold = error instanceof MeshError && (error.code === 'agent' || error.code === 'packet');
      if (!isTold || this.context.signal.aborted) throw error;
      return { error: { code: error.code, message: error.message } };
    }
  }

  /**
   * Asks another role, and takes over what it took and, unless told otherwise, what it noted. It has its part of the time that is left
   * (see `time-shares.ts`).
   *
   * @returns its result, as `schema` says
   * @throws MeshError with the code that the role failed with; `packet` for a reply that is not what it should be
   */
  async askRole<Result>(
    partner: string,
    payload: JsonObject,
    schema: z.ZodType<Result>,
    { takesTrace = true }: { readonly takesTrace?: boolean } = {},
  ): Promise<Result> {
    if (this.isOutOfTime) throw new MeshError('limit', 'its time is used up');
    const { error, trace, usage, ...result } = parsePartnerReply(
      partner,
      await this.context.ask(partner, { ...payload, ...this.#timeFor(partner) }, { signal: this.#time }),
      roleReplySchema,
    );
    if (takesTrace) this.trace.addAll(trace);
    for (const entry of usage) this.usage.add(entry);
    if (error !== undefined) throw new MeshError(toErrorCode(error.code), `${partner}: ${error.message}`);
    return parsePartnerReply(partner, result, schema);
  }

  #timeFor(partner: string): { readonly time_s?: number } {
    if (this.secondsLeft === Number.POSITIVE_INFINITY) return {};
    const tool = this.context.partners.find(({ id }) => id === partner)?.tool;
    return { time_s: findTimeShare(tool) * this.secondsLeft };
  }

  /** On disk at once: a task that fails or runs out of time shows how far it came. */
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
  throw new MeshError(
    'packet',
    `the reply of ${partner} is not what it should be: ${formatIssues(parsed.error)}`,
  );
}

const CODES = ['engine', 'tool', 'store', 'limit', 'config', 'packet'] as const;

function toErrorCode(code: string): MeshError['code'] {
  return CODES.find((known) => known === code) ?? 'agent';
}
