import { TRACE_FILE } from '@gaia-mesh/core/contracts/tool.ts';
import { AgentLines } from '@gaia-mesh/core/run/metrics/agent-lines.ts';
import { tryParseJson } from '@gaia-mesh/core/system/json-line.ts';
import { type TraceEntry, traceEntrySchema } from '@gaia-mesh/tools/roles/trace.ts';
import * as z from 'zod';

const lineSchema = traceEntrySchema.extend({ task_id: z.string(), time: z.number() });
type Line = z.infer<typeof lineSchema>;

/** Entries that are kept of tasks that are still open: a loop of 50 turns stays far below it. */
const MAX_OPEN_ENTRIES = 20_000;

/**
 * The steps of each task, read from the workspaces of its agents, where roles note them as they happen. An answer brings its steps
 * along; of a task that failed or ran out of time nothing else tells what was done.
 */
export class RunTraces {
  readonly #lines: AgentLines;
  readonly #open = new Map<string, Line[]>();
  #openEntries = 0;

  constructor(workspaces: string, ids: readonly string[]) {
    this.#lines = new AgentLines(workspaces, ids, TRACE_FILE);
  }

  /** What was done for a task, in the order of time. Ask once, when it has ended. */
  ended(taskId: string): TraceEntry[] {
    for (const line of this.#lines.next()) this.#add(line);
    const lines = this.#open.get(taskId) ?? [];
    this.#open.delete(taskId);
    this.#openEntries -= lines.length;
    return lines.sort((a, b) => a.time - b.time).map(({ task_id: _task, time: _time, ...entry }) => entry);
  }

  #add(text: string): void {
    const parsed = lineSchema.safeParse(tryParseJson(text));
    // The log's own word that it was cut, or something else's of this name.
    if (!parsed.success || this.#openEntries >= MAX_OPEN_ENTRIES) return;
    this.#openEntries += 1;
    const { task_id } = parsed.data;
    this.#open.set(task_id, [...(this.#open.get(task_id) ?? []), parsed.data]);
  }
}
