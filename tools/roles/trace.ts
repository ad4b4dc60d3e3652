import { isJsonObject, type JsonObject, type JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import * as z from 'zod';

/**
 * One step on the way to an answer. `by` is the role that took it, `kind` what it was: `reasoning` before what is done next,
 * `tool` for a tool that was asked, `result` of a role, `note` for what the workflow decided.
 */
export const traceEntrySchema = z.object({
  by: z.string(),
  kind: z.enum(['reasoning', 'tool', 'result', 'note']),
  text: z.string(),
  tool: z.string().exactOptional(),
  arguments: z.custom<JsonObject>(isJsonObject, 'must be an object').exactOptional(),
  failed: z.boolean().exactOptional(),
});

export type TraceEntry = z.infer<typeof traceEntrySchema>;

/** Entries of one task; a loop of 50 turns with several tools each stays below it. */
const MAX_ENTRIES = 2000;
/** Of one entry's text: all that a model is shown of a tool's result (OV-06). */
export const MAX_ENTRY_CHARACTERS = 24_000;
/** Of all entries: it travels in packets and lies in a row of the store. Beyond it an entry is cut to a line or two. */
const MAX_TRACE_CHARACTERS = 4_000_000;
const SHORT_CHARACTERS = 200;

/** What happened on the way to an answer, in order; it travels with the answer. */
export class Trace {
  readonly #entries: TraceEntry[] = [];
  #characters = 0;

  get entries(): readonly TraceEntry[] {
    return this.#entries;
  }

  /** @returns the entry as it is kept; undefined where there is no room left */
  add(entry: TraceEntry): TraceEntry | undefined {
    if (this.#entries.length >= MAX_ENTRIES) return undefined;
    const isLast = this.#entries.length === MAX_ENTRIES - 1;
    const bounded: TraceEntry = isLast
      ? { by: entry.by, kind: 'note', text: `further steps are left out: a trace has ${MAX_ENTRIES}` }
      : this.#bounded(entry);
    this.#characters += bounded.text.length + JSON.stringify(bounded.arguments ?? '').length;
    this.#entries.push(bounded);
    return bounded;
  }

  addAll(entries: readonly TraceEntry[]): void {
    for (const entry of entries) this.add(entry);
  }

  toPayload(): JsonObject[] {
    return this.#entries.map((entry) => ({ ...entry }));
  }

  #bounded({ text, arguments: given, ...entry }: TraceEntry): TraceEntry {
    const most = this.#characters < MAX_TRACE_CHARACTERS ? MAX_ENTRY_CHARACTERS : SHORT_CHARACTERS;
    return {
      ...entry,
      text: cutText(text, most),
      ...(given === undefined ? {} : { arguments: boundArguments(given, most) }),
    };
  }
}

/** Nesting of arguments that are kept as they are: an entry lies deeper in a packet than the arguments did. */
const MAX_DEPTH = 16;

/** Arguments as they were, or as text where they are too large, nested too deep or no whole characters to travel in packets. */
function boundArguments(given: JsonObject, most: number): JsonObject {
  // Depth first: what is nested without end cannot be made a text of.
  if (isDeeper(given, MAX_DEPTH)) return { cut: `arguments nested deeper than ${MAX_DEPTH}` };
  const text = JSON.stringify(given);
  if (text.length > most || !isWellFormed(given)) return { cut: cutText(text, most) };
  return given;
}

/** Whether objects and lists are nested deeper than `most`; it looks no deeper itself. */
export function isDeeper(value: JsonValue, most: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return most === 0 || Object.values(value).some((part: JsonValue) => isDeeper(part, most - 1));
}

function isWellFormed(value: JsonValue): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, part]) => key.isWellFormed() && isWellFormed(part));
}

/** `text`, or its beginning with a mark that says what is missing: at most `most` characters with it, so that nothing is cut twice. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text.toWellFormed();
  const mark = `… [cut: ${text.length} characters in all]`;
  return text.slice(0, Math.max(0, most - mark.length)).toWellFormed() + mark;
}

/** Of one step, in a trace that a person or a model reads: enough to see what a tool found. */
const MAX_LINE_CHARACTERS = 2000;

/** The trace as a person reads it: numbered steps (REQ-057, REQ-058). */
export function formatTrace(entries: readonly TraceEntry[]): string {
  return entries.map((entry, index) => `${index + 1}. ${entry.by}: ${formatEntry(entry)}`).join('\n');
}

function formatEntry({ kind, text, tool, arguments: given, failed }: TraceEntry): string {
  const shown = cutText(text, MAX_LINE_CHARACTERS);
  if (kind !== 'tool') return shown;
  const args = cutText(JSON.stringify(given ?? {}), MAX_LINE_CHARACTERS);
  return `${tool}(${args}) ${failed === true ? 'failed: ' : '→ '}${shown}`;
}
