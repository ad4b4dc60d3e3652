import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { readSystemCode } from '@gaia-mesh/core/contracts/errors.ts';
import { toFolderName } from '@gaia-mesh/core/contracts/node-id.ts';
import { HUB_ID } from '@gaia-mesh/core/contracts/packet.ts';
import { TRACE_FILE } from '@gaia-mesh/core/contracts/tool.ts';
import { tryParseJson } from '@gaia-mesh/core/system/json-line.ts';
import { formatTrace, traceEntrySchema } from '@gaia-mesh/tools/roles/trace.ts';
import * as z from 'zod';

/** Lines of a log that somebody wants to see. */
export interface LogPart {
  readonly text: string;
  /** There is more before it. */
  readonly isCut: boolean;
}

/** What is not told by events, and asked for when somebody opens it. Undefined where nothing is known. */
export interface Details {
  log(run: string, agent: string): Promise<LogPart | undefined>;
  /** How the team came to its answer, or how far it has come. */
  reasoning(run: string, question: string): Promise<string | undefined>;
  /** A packet as its sender noted it, as JSON. */
  packet(run: string, from: string, id: string): Promise<string | undefined>;
}

/** A page of a log; what an agent's notes may have more than this is in the archive. */
const LOG_BYTES = 64 * 1024;
const NOTES_BYTES = 1024 * 1024;
/** Of a text that is opened: more than a person reads. */
const MAX_CHARACTERS = 64 * 1024;

export function cutDetail(text: string): string {
  return text.length <= MAX_CHARACTERS
    ? text
    : `${text.slice(0, MAX_CHARACTERS)}\n… and ${text.length - MAX_CHARACTERS} more characters`;
}

export const HUB_LOG = 'hub.log';
export const AGENT_LOG = 'agent.log';
const noteSchema = traceEntrySchema.extend({ task_id: z.string(), time: z.number() });
const sentSchema = z.looseObject({ dir: z.literal('sent'), id: z.string() });

/** The steps for a question that are among these lines of its agents' notes, as a text. */
export function findReasoning(lines: Iterable<string>, question: string): string | undefined {
  const steps = [...lines].flatMap((line) => {
    const parsed = line.includes(question) ? noteSchema.safeParse(tryParseJson(line)) : undefined;
    return parsed?.success && parsed.data.task_id === question ? [parsed.data] : [];
  });
  if (steps.length === 0) return undefined;
  return cutDetail(formatTrace(steps.sort((a, b) => a.time - b.time)));
}

/** The line of a log that says that `id` was sent. */
export function findSentLine(lines: Iterable<string>, id: string): string | undefined {
  for (const line of lines) {
    if (!line.includes(id)) continue;
    const value = tryParseJson(line);
    const sent = sentSchema.safeParse(value);
    if (sent.success && sent.data.id === id) return cutDetail(JSON.stringify(value, null, 2));
  }
  return undefined;
}

/** Details of runs that are on, or were a moment ago, from the folders that their agents write to. */
export class LiveDetails implements Details {
  readonly #runs = new Map<string, { readonly workspaces: string; readonly agents: readonly string[] }>();

  began(run: string, workspaces: string, agents: readonly string[]): void {
    this.#runs.set(run, { workspaces, agents });
  }

  async log(run: string, agent: string): Promise<LogPart | undefined> {
    const file = this.#fileOf(run, agent, agent === HUB_ID ? HUB_LOG : AGENT_LOG);
    return file === undefined ? undefined : readLogTail(file, LOG_BYTES);
  }

  async reasoning(run: string, question: string): Promise<string | undefined> {
    const lines: string[] = [];
    for (const agent of this.#runs.get(run)?.agents ?? []) {
      const file = this.#fileOf(run, agent, TRACE_FILE);
      const notes = file === undefined ? undefined : await readLogTail(file, NOTES_BYTES);
      lines.push(...(notes?.text.split('\n') ?? []));
    }
    return findReasoning(lines, question);
  }

  async packet(run: string, from: string, id: string): Promise<string | undefined> {
    const file = this.#fileOf(run, from, AGENT_LOG);
    const notes = file === undefined ? undefined : await readLogTail(file, NOTES_BYTES);
    return findSentLine(notes?.text.split('\n').reverse() ?? [], id);
  }

  /** Only of agents that the run has: a name from outside is no path. */
  #fileOf(run: string, agent: string, name: string): string | undefined {
    const begun = this.#runs.get(run);
    // Synthetic agents have no folders.
    if (begun === undefined || begun.workspaces === '') return undefined;
    if (agent === HUB_ID) return name === HUB_LOG ? path.join(begun.workspaces, name) : undefined;
    return begun.agents.includes(agent) ? path.join(begun.workspaces, toFolderName(agent), name) : undefined;
  }
}

/** An agent that puts a pipe or a link in the place of its file stops nobody, and shows nothing. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/** The last whole lines of a file; undefined where there is none. */
async function readLogTail(file: string, most: number): Promise<LogPart | undefined> {
  try {
    await using handle = await open(file, OPEN_FLAGS);
    const status = await handle.stat();
    if (!status.isFile()) return undefined;
    const length = Math.min(status.size, most);
    const bytes = Buffer.alloc(length);
    const { bytesRead } = await handle.read(bytes, 0, length, status.size - length);
    const isCut = status.size > most;
    const text = bytes.toString('utf8', 0, bytesRead);
    return { text: isCut ? text.slice(text.indexOf('\n') + 1) : text, isCut };
  } catch (error) {
    if (['ENOENT', 'ELOOP', 'ENXIO', 'EISDIR'].includes(readSystemCode(error) ?? '')) return undefined;
    throw error;
  }
}
