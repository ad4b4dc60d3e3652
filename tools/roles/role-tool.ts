import { setTimeout as sleep } from 'node:timers/promises';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import {
  FINAL_ANSWER,
  formatIssues,
  type JsonObject,
  type JsonValue,
} from '@gaia-mesh/core/contracts/packet.ts';
import { callType, type Tool, toResultType } from '@gaia-mesh/core/contracts/tool.ts';
import { omitUndefined } from '@gaia-mesh/core/system/defined.ts';
import * as z from 'zod';
import { documentPayload } from '../pipeline/payloads.ts';
import type { attachedShape } from './attached.ts';
import { RoleWork } from './role-work.ts';
import { cutText, formatTrace, type TraceEntry } from './trace.ts';

/** A role: an agent whose one tool is work done by its engine. Other agents ask it. */
interface Role<Input extends JsonObject> {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodType<Input>;
  /** Names the role in the trace if the tool's name is too general. */
  readonly by?: (options: JsonObject) => string;
  /** Only the agent that asked sees its steps: it knows things that the answer's trace must not reveal. */
  readonly isSecret?: boolean;
  run(input: Input, work: RoleWork): Promise<JsonObject>;
}

/** The time that the agent that asked will wait, if it has a limit. */
const timeSchema = z.looseObject({ time_s: z.number().positive().exactOptional() });

const fileSchema = z.looseObject({ file: z.string().exactOptional() });

/** Turns a role into a {@link Tool}: call → checked input → result, with its trace and usage. */
export function createRoleTool<Input extends JsonObject>(role: Role<Input>): Tool {
  const { name, description, input, by, isSecret = false, run } = role;
  return {
    name,
    description,
    accepts: [callType(name)],
    emits: [toResultType(name)],
    async run(packet, context) {
      const { file } = fileSchema.safeParse(packet.payload).data ?? {};
      const { task_id: taskId } = packet;
      const work = new RoleWork(by?.(context.options) ?? name, context, { taskId, file, isSecret });
      const payload = await computeResult(packet.payload, work);
      return [{ type: toResultType(name), to: packet.from, reply_to: packet.id, payload }];
    },
  };

  async function computeResult(given: JsonObject, work: RoleWork): Promise<JsonObject> {
    const parsed = input.safeParse(given);
    const { time_s } = timeSchema.safeParse(given).data ?? {};
    if (time_s !== undefined) work.limitTo(time_s);
    let result: JsonObject;
    if (parsed.success) {
      try {
        result = await run(parsed.data, work);
      } catch (error) {
        const failure = work.toFailure(error);
        result = { error: { code: failure.code, message: failure.message.toWellFormed() } };
      }
    } else {
      result = { error: { code: 'packet', message: `${name}: ${formatIssues(parsed.error)}` } };
    }
    return { ...result, trace: work.trace.entries, usage: work.usage.toPayload() };
  }
}

/** The `doc_init` payload of a question: the document, if there is one, and the name of the attached file. */
const questionPayload = documentPayload.extend({
  file_name: z.string().min(1).max(255).exactOptional(),
  file_outline: z.string().max(10_000).exactOptional(),
});

/** A question for the entry agent of a team. */
export interface Problem {
  readonly taskId: string;
  readonly question: string;
  readonly attached: z.infer<z.ZodObject<typeof attachedShape>>;
  /** The document, or the attachment's text if the team includes it; empty without one. */
  readonly document: string;
}

/** The conclusion of an entry agent: `answer` is cleaned, `raw` is the model's own text. */
export interface Conclusion {
  readonly answer: string;
  readonly raw: string;
  /** The probability that the answer is right, if the engine gives one. */
  readonly confidence?: number | undefined;
  /** True if there is no answer because the time was up. */
  readonly isCutOff?: boolean;
  /** The role whose failure the answer reports. */
  readonly failedRole?: string;
  /** Further details for reports. */
  readonly details?: JsonObject;
}

interface EntryRole {
  readonly name: string;
  readonly description: string;
  prepare?: Tool['prepare'];
  run(problem: Problem, work: RoleWork): Promise<Conclusion>;
}

/** Maximum characters of an answer, which is a line; a longer text is cut. */
const MAX_ANSWER_CHARACTERS = 10_000;
const MAX_TRACE_CHARACTERS = 400_000;

/** The time reserved for the steps after the answer, as a part of a question's time and at most in seconds, so that the answer arrives in time. */
const RESERVED_PART = 0.1;
const MAX_RESERVED_S = 5;

/** Turns a team's entry into a {@link Tool}: document → workflow → final answer, with the steps that led to it. */
export function createEntryTool({ name, description, prepare, run }: EntryRole): Tool {
  const tool: Tool = {
    name,
    description,
    accepts: ['doc_init'],
    emits: ['data_event'],
    async run(packet, context) {
      const parsed = questionPayload.safeParse(packet.payload);
      if (!parsed.success) {
        throw new MeshError('packet', `${packet.type} is invalid for ${name}: ${formatIssues(parsed.error)}`);
      }
      const { question, chunks, file_name, file_outline } = parsed.data;
      const work = new RoleWork(name, context, { taskId: packet.task_id, file: file_name });
      const attached = omitUndefined({ file: file_name, outline: file_outline });
      const problem = { taskId: packet.task_id, question, document: chunks.join(''), attached };
      const { time_s } = work.options(timeSchema);
      const reservedS = Math.min(RESERVED_PART * (time_s ?? 0), MAX_RESERVED_S);
      if (time_s !== undefined) work.limitTo(time_s - reservedS);
      const conclusion = await run(problem, work).catch(async (error: unknown) => {
        if (work.isTimeUp(error)) await waitTaskEnd(2 * reservedS, work);
        throw work.toFailure(error);
      });
      if (conclusion.isCutOff === true) await waitTaskEnd(2 * reservedS, work);
      const payload = buildFinalPayload(conclusion, work);
      context.record('answers.log', { task_id: packet.task_id, engine: context.engine.name, ...payload });
      return [{ type: 'data_event', tag: FINAL_ANSWER, log: 'answers.log', payload }];
    },
  };
  return prepare === undefined ? tool : { ...tool, prepare };
}

/** Waits until the hub ends the task: that its time was up is then the reported reason, rather than whatever else failed. */
async function waitTaskEnd(mostSeconds: number, work: RoleWork): Promise<void> {
  // A role ends before the time of the agent that asked it.
  const leftS = work.secondsLeft === Number.POSITIVE_INFINITY ? 0 : work.secondsLeft;
  await sleep((leftS + mostSeconds) * 1000, undefined, { signal: work.context.signal }).catch(
    () => undefined,
  );
}

function buildFinalPayload(
  { answer, raw, confidence, failedRole, details }: Conclusion,
  work: RoleWork,
): JsonObject {
  const payload: Record<string, JsonValue> = {
    answer: cutText(answer, MAX_ANSWER_CHARACTERS),
    raw_answer: cutText(raw, MAX_ANSWER_CHARACTERS),
    reasoning_trace: cutText(formatTrace(work.trace.entries), MAX_TRACE_CHARACTERS),
    usage: work.usage.toPayload(),
    tool_calls: countToolCalls(work.trace.entries),
  };
  if (confidence !== undefined) payload.confidence = confidence;
  if (failedRole !== undefined) payload.failed_role = failedRole;
  if (details !== undefined) payload.details = details;
  return payload;
}

interface ToolCalls {
  readonly tool: string;
  readonly count: number;
  readonly failed: number;
}

/** Counts the calls of each tool, and those that failed (RA-57). */
export function countToolCalls(entries: readonly TraceEntry[]): (ToolCalls & JsonObject)[] {
  const byTool = new Map<string, { tool: string; count: number; failed: number }>();
  for (const { kind, tool, failed } of entries) {
    if (kind !== 'tool' || tool === undefined) continue;
    const sum = byTool.get(tool) ?? { tool, count: 0, failed: 0 };
    sum.count += 1;
    if (failed === true) sum.failed += 1;
    byTool.set(tool, sum);
  }
  return [...byTool.values()];
}
