import { isJsonObject, type JsonObject, type JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import { formatForeignJson } from '@gaia-mesh/core/system/parse-json.ts';
import * as z from 'zod';

/**
 * One step on the way to an answer. `by` is the role that took it; `kind` is `reasoning` for thoughts before the next action,
 * `tool` for a tool call, `result` for a role's result, and `note` for a decision of the workflow.
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

/** Maximum entries of a task; a loop of 50 turns with several tools each stays below it. */
const MAX_ENTRIES = 2000;
/** Maximum characters of an entry's text: all of a tool's result that a model is shown (OV-06). */
export const MAX_ENTRY_CHARACTERS = 24_000;
/** Maximum characters of all entries, which travel in packets and are stored in one row. Beyond it, entries are cut to a line or two. */
const MAX_TRACE_CHARACTERS = 4_000_000;
const SHORT_CHARACTERS = 200;

/** The steps on the way to an answer, in order; they are sent with the answer. */
export class Trace {
  readonly #entries: TraceEntry[] = [];
  #characters = 0;

  get entries(): readonly TraceEntry[] {
    return this.#entries;
  }

  /** @returns the entry as it is kept; undefined if there is no room left */
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

  #bounded({ text, arguments: given, ...entry }: TraceEntry): TraceEntry {
    const most = this.#characters < MAX_TRACE_CHARACTERS ? MAX_ENTRY_CHARACTERS : SHORT_CHARACTERS;
    const bounded: TraceEntry = { ...entry, text: cutText(text, most) };
    if (given !== undefined) bounded.arguments = boundArguments(given, most);
    return bounded;
  }
}

/** Maximum nesting of arguments that are kept as they are: an entry lies deeper in a packet than the arguments did. */
const MAX_DEPTH = 16;

/** Returns the arguments, or a text in their place if they are too large, too deeply nested or not well-formed Unicode. */
function boundArguments(given: JsonObject, most: number): JsonObject {
  // Depth is checked first: endlessly nested values cannot be converted to text.
  if (isDeeper(given, MAX_DEPTH)) return { cut: `arguments nested deeper than ${MAX_DEPTH}` };
  const text = JSON.stringify(given);
  if (text.length > most || !isWellFormed(given)) return { cut: cutText(text, most) };
  return given;
}

/** Returns true if objects and lists are nested deeper than `most`; it does not descend further. */
export function isDeeper(value: JsonValue, most: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return most === 0 || Object.values(value).some((part: JsonValue) => isDeeper(part, most - 1));
}

function isWellFormed(value: JsonValue): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, part]) => key.isWellFormed() && isWellFormed(part));
}

/** Cuts `text` to at most `most` characters, including a mark that gives the full length, so that it is not cut twice. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text.toWellFormed();
  const mark = `… [cut: ${text.length} characters in all]`;
  return text.slice(0, Math.max(0, most - mark.length)).toWellFormed() + mark;
}

/** Maximum characters of a step in a readable trace: enough to see what a tool found. */
const MAX_LINE_CHARACTERS = 2000;

/** Formats the trace for people: numbered steps (REQ-057, REQ-058). */
export function formatTrace(entries: readonly TraceEntry[]): string {
  return entries.map((entry, index) => `${index + 1}. ${entry.by}: ${formatEntry(entry)}`).join('\n');
}

function formatEntry({ kind, text, tool, arguments: given, failed }: TraceEntry): string {
  const shown = cutText(text, MAX_LINE_CHARACTERS);
  if (kind !== 'tool') return shown;
  const args = cutText(formatForeignJson(given ?? {}), MAX_LINE_CHARACTERS);
  return `${tool}(${args}) ${failed === true ? 'failed: ' : '→ '}${shown}`;
}
