import { setTimeout as sleep } from 'node:timers/promises';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { FINAL_ANSWER, formatIssues, type JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { callType, type Tool, toResultType } from '@gaia-mesh/core/contracts/tool.ts';
import * as z from 'zod';
import { documentPayload } from '../pipeline/payloads.ts';
import { RoleWork } from './role-work.ts';
import { cutText, formatTrace, type TraceEntry } from './trace.ts';

/** A role: an agent whose one tool is a function that the engine does. Others ask it. */
interface Role<Input extends JsonObject> {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodType<Input>;
  /** Who it is in the trace, where the name of the tool does not say it. */
  readonly by?: (options: JsonObject) => string;
  /** Its steps are for who asked alone: it knows what the answer's trace must not tell. */
  readonly isSecret?: boolean;
  run(input: Input, work: RoleWork): Promise<JsonObject>;
}

/** How long whoever asked will wait, where that has an end. */
const timeSchema = z.looseObject({ time_s: z.number().positive().exactOptional() });

const fileSchema = z.looseObject({ file: z.string().exactOptional() });

/** Makes a {@link Tool} of a role: call → checked input → result, with the trace and what it took. */
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
      const payload = await resultOf(packet.payload, work);
      return [{ type: toResultType(name), to: packet.from, reply_to: packet.id, payload }];
    },
  };

  async function resultOf(given: JsonObject, work: RoleWork): Promise<JsonObject> {
    const parsed = input.safeParse(given);
    const { time_s } = timeSchema.safeParse(given).data ?? {};
    if (time_s !== undefined) work.limitTo(time_s);
    let result: JsonObject;
    if (parsed.success) {
      try {
        result = await run(parsed.data, work);
      } catch (error) {
        const failure = work.failureOf(error);
        result = { error: { code: failure.code, message: failure.message.toWellFormed() } };
      }
    } else {
      result = { error: { code: 'packet', message: `${name}: ${formatIssues(parsed.error)}` } };
    }
    return { ...result, trace: work.trace.toPayload(), usage: work.usage.toPayload() };
  }
}

/** `doc_init` of a question: the text to read, if there is one, and the name of the file that belongs to it. */
const questionPayload = documentPayload.extend({
  file_name: z.string().min(1).max(255).exactOptional(),
  file_outline: z.string().max(10_000).exactOptional(),
});

/** A question as it comes to the entry agent of a team. */
export interface Problem {
  readonly taskId: string;
  readonly question: string;
  /** Name of the attached file; it lies in the task's folder. */
  readonly file?: string;
  /** What that file is, in a few lines; not always known. */
  readonly outline?: string;
  /** The document, or the attachment's text, where the team puts it there; empty without one. */
  readonly document: string;
}

/** What the entry agent comes to. `answer` is cleaned, `raw` as the model said it. */
export interface Conclusion {
  readonly answer: string;
  readonly raw: string;
  /** How probable it is that the answer is right, where the engine says it. */
  readonly confidence?: number;
  /** There is no answer since the time was up. */
  readonly isCutOff?: boolean;
  /** The role that failed, where the answer only says so. */
  readonly failedRole?: string;
  /** Further things that a report shows. */
  readonly details?: JsonObject;
}

interface EntryRole {
  readonly name: string;
  readonly description: string;
  prepare?: Tool['prepare'];
  run(problem: Problem, work: RoleWork): Promise<Conclusion>;
}

/** An answer is a line; a model that writes a book as its answer is cut. */
const MAX_ANSWER_CHARACTERS = 10_000;
const MAX_TRACE_CHARACTERS = 400_000;

/** Of a question's time, and at most in seconds: what is kept for what comes after the answer, so that it arrives in time. */
const RESERVED_PART = 0.1;
const MAX_RESERVED_S = 5;

/** Makes a {@link Tool} of a team's entry: document → workflow → final answer, with how it came about. */
export function createEntryTool({ name, description, prepare, run }: EntryRole): Tool {
  return {
    name,
    description,
    accepts: ['doc_init'],
    emits: ['data_event'],
    ...(prepare === undefined ? {} : { prepare }),
    async run(packet, context) {
      const parsed = questionPayload.safeParse(packet.payload);
      if (!parsed.success) {
        throw new MeshError(
          'packet',
          `${packet.type} is not what ${name} reads: ${formatIssues(parsed.error)}`,
        );
      }
      const { question, chunks, file_name, file_outline } = parsed.data;
      const work = new RoleWork(name, context, { taskId: packet.task_id, file: file_name });
      const problem = {
        taskId: packet.task_id,
        question,
        document: chunks.join(''),
        ...(file_name === undefined ? {} : { file: file_name }),
        ...(file_outline === undefined ? {} : { outline: file_outline }),
      };
      const { time_s } = work.options(timeSchema);
      const reservedS = Math.min(RESERVED_PART * (time_s ?? 0), MAX_RESERVED_S);
      if (time_s !== undefined) work.limitTo(time_s - reservedS);
      const conclusion = await run(problem, work).catch(async (error: unknown) => {
        if (work.isTimeUp(error)) await waitTaskEnd(2 * reservedS, work);
        throw work.failureOf(error);
      });
      if (conclusion.isCutOff === true) await waitTaskEnd(2 * reservedS, work);
      const payload = buildFinalPayload(conclusion, work);
      context.record('answers.log', { task_id: packet.task_id, engine: context.engine.name, ...payload });
      return [{ type: 'data_event', tag: FINAL_ANSWER, log: 'answers.log', payload }];
    },
  };
}

/** The mesh ends a task when its time is up, and says so: what else stood in the way is not the news. */
async function waitTaskEnd(mostSeconds: number, work: RoleWork): Promise<void> {
  // A role that was asked has ended before its asker's time.
  const leftS = work.secondsLeft === Number.POSITIVE_INFINITY ? 0 : work.secondsLeft;
  await sleep((leftS + mostSeconds) * 1000, undefined, { signal: work.context.signal }).catch(
    () => undefined,
  );
}

function buildFinalPayload(
  { answer, raw, confidence, failedRole, details }: Conclusion,
  work: RoleWork,
): JsonObject {
  return {
    answer: cutText(answer, MAX_ANSWER_CHARACTERS),
    raw_answer: cutText(raw, MAX_ANSWER_CHARACTERS),
    ...(confidence === undefined ? {} : { confidence }),
    reasoning_trace: cutText(formatTrace(work.trace.entries), MAX_TRACE_CHARACTERS),
    usage: work.usage.toPayload(),
    tool_calls: countToolCalls(work.trace.entries),
    ...(failedRole === undefined ? {} : { failed_role: failedRole }),
    ...(details === undefined ? {} : { details }),
  };
}

interface ToolCalls {
  readonly tool: string;
  readonly count: number;
  readonly failed: number;
}

/** How often each tool was asked, and how often in vain (RA-57). */
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
