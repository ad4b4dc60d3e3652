import path from 'node:path';
import { HUB_ID, toFolderName } from '@gaia-mesh/core/contracts/packet.ts';
import { TRACE_FILE } from '@gaia-mesh/core/contracts/tool.ts';
import { readLastLines } from '@gaia-mesh/core/system/files/untrusted-file.ts';
import { tryParseJson } from '@gaia-mesh/core/system/json-line.ts';
import { formatTrace, traceEntrySchema } from '@gaia-mesh/tools/roles/trace.ts';
import * as z from 'zod';

/** Bytes that are read from the end of a log; the archive has the rest. */
const LOG_BYTES = 64 * 1024;
const NOTES_BYTES = 1024 * 1024;
/** Maximum characters of an opened text: more than a person reads. */
const MAX_CHARACTERS = 64 * 1024;

function cutDetail(text: string): string {
  return text.length <= MAX_CHARACTERS
    ? text
    : `${text.slice(0, MAX_CHARACTERS)}\n… and ${text.length - MAX_CHARACTERS} more characters`;
}

const HUB_LOG = 'hub.log';
const AGENT_LOG = 'agent.log';
const noteSchema = traceEntrySchema.extend({ task_id: z.string(), time: z.number() });
const sentSchema = z.looseObject({ dir: z.literal('sent'), id: z.string() });

/** Formats the steps for a question that are in these lines of its agents' notes. */
function findReasoning(lines: Iterable<string>, question: string): string | undefined {
  const steps = [...lines].flatMap((line) => {
    const parsed = line.includes(question) ? noteSchema.safeParse(tryParseJson(line)) : undefined;
    return parsed?.success && parsed.data.task_id === question ? [parsed.data] : [];
  });
  if (steps.length === 0) return undefined;
  return cutDetail(formatTrace(steps.sort((a, b) => a.time - b.time)));
}

/** Finds the log line of the packet `id` that was sent. */
function findSentLine(lines: Iterable<string>, id: string): string | undefined {
  for (const line of lines) {
    if (!line.includes(id)) continue;
    const value = tryParseJson(line);
    const sent = sentSchema.safeParse(value);
    if (sent.success && sent.data.id === id) return cutDetail(JSON.stringify(value, null, 2));
  }
  return undefined;
}

/**
 * Details of current and recent runs that are not in events, from the folders that their agents write to; undefined if unknown.
 */
export class LiveDetails {
  readonly #runs = new Map<string, { readonly workspaces: string; readonly agents: readonly string[] }>();

  began(run: string, workspaces: string, agents: readonly string[]): void {
    this.#runs.set(run, { workspaces, agents });
  }

  async log(run: string, agent: string): Promise<ReturnType<typeof readLastLines>> {
    const file = this.#fileOf(run, agent, agent === HUB_ID ? HUB_LOG : AGENT_LOG);
    return file === undefined ? undefined : readLastLines(file, LOG_BYTES);
  }

  /** Returns the team's reasoning so far. */
  async reasoning(run: string, question: string): Promise<string | undefined> {
    const lines: string[] = [];
    for (const agent of this.#runs.get(run)?.agents ?? []) {
      const file = this.#fileOf(run, agent, TRACE_FILE);
      const notes = file === undefined ? undefined : readLastLines(file, NOTES_BYTES);
      lines.push(...(notes?.text.split('\n') ?? []));
    }
    return findReasoning(lines, question);
  }

  /** Returns a packet as its sender logged it, as JSON. */
  async packet(run: string, from: string, id: string): Promise<string | undefined> {
    const file = this.#fileOf(run, from, AGENT_LOG);
    const notes = file === undefined ? undefined : readLastLines(file, NOTES_BYTES);
    return findSentLine(notes?.text.split('\n').reverse() ?? [], id);
  }

  /** Returns a file's path for agents of the run only, because a requested name must never be used as a path. */
  #fileOf(run: string, agent: string, name: string): string | undefined {
    const begun = this.#runs.get(run);
    // Synthetic agents have no folders.
    if (begun === undefined || begun.workspaces === '') return undefined;
    if (agent === HUB_ID) return name === HUB_LOG ? path.join(begun.workspaces, name) : undefined;
    return begun.agents.includes(agent) ? path.join(begun.workspaces, toFolderName(agent), name) : undefined;
  }
}
