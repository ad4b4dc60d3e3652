import type { ToolCall } from '../../core/engine.ts';
import { readArguments } from './json-reply.ts';

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
