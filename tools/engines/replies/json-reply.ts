import type * as z from 'zod';
import type { ToolCall } from '../../../core/contracts/engine.ts';
import { messageOf } from '../../../core/contracts/errors.ts';
import { isJsonObject, issuesOf, type JsonObject } from '../../../core/contracts/packet.ts';

type ReadReply = { readonly fault: string } | { readonly fault?: undefined; readonly value: unknown };

/** What a model said where JSON of a schema was asked for, or what is wrong with it, in words that the model can use. */
export function readJson(content: string, schema: z.ZodType): ReadReply {
  let json: unknown;
  try {
    json = parsePlain(withoutFence(content));
  } catch (error) {
    return { fault: `it is not JSON: ${messageOf(error)}` };
  }
  const parsed = schema.safeParse(json);
  return parsed.success
    ? { value: parsed.data }
    : { fault: `it does not fit the schema: ${issuesOf(parsed.error)}` };
}

/** A tool's arguments, which servers write as an object or as its text; what is no object stays the text that it is. */
export function readArguments(given: unknown): JsonObject | string {
  const text = typeof given === 'string' ? given : JSON.stringify(given ?? {});
  // Some models write nothing where a tool takes nothing.
  if (text.trim() === '') return {};
  try {
    const value: unknown = parsePlain(text);
    if (isJsonObject(value)) return value;
  } catch (error) {
    // Nested beyond all reason, it overflows the parser's stack.
    if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error;
  }
  return text.toWellFormed();
}

/** The arguments as an object, for servers that take nothing else back: the model sees what it had written. */
export function argumentsObject(call: ToolCall): JsonObject {
  return typeof call.arguments === 'string' ? { not_an_object: call.arguments } : call.arguments;
}

/** Whole characters only, and no `__proto__`: what a model says travels in packets, which can hold neither. */
function parsePlain(text: string): unknown {
  return JSON.parse(text, (key, value: unknown) => {
    if (key === '__proto__') return undefined;
    return typeof value === 'string' ? value.toWellFormed() : value;
  });
}

/** Models that no server holds to a schema like to show JSON as Markdown does. */
function withoutFence(content: string): string {
  const text = content.trim();
  const lineEnd = text.indexOf('\n');
  if (!/^```(?:json)?$/i.test(text.slice(0, lineEnd).trim()) || !text.endsWith('```')) return content;
  return text.slice(lineEnd, -3);
}

/** Far more than a model calls at once; a reply that is nothing but calls must not start thousands of tools. */
const MAX_TOOL_CALLS = 64;

/**
 * The calls of one reply, each with an id of its own: servers may leave ids out or repeat them, and an id must be new in the
 * conversation.
 *
 * @param turn number of messages before the reply, which makes ids new
 */
export function toolCallsOf(
  calls: readonly {
    readonly id?: string | null | undefined;
    readonly name: string;
    readonly arguments?: unknown;
  }[],
  turn: number,
): ToolCall[] {
  if (calls.length > MAX_TOOL_CALLS)
    throw new Error(`it calls ${calls.length} tools, more than ${MAX_TOOL_CALLS}`);
  const taken = new Set<string>();
  return calls.map((call, index) => {
    const isUsable = typeof call.id === 'string' && /^[\w-]{1,128}$/.test(call.id) && !taken.has(call.id);
    const id = isUsable && typeof call.id === 'string' ? call.id : `call_${turn}_${index}`;
    taken.add(id);
    return { id, name: call.name, arguments: readArguments(call.arguments) };
  });
}
