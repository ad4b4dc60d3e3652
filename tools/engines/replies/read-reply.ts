import type { ChatTurn, ToolDefinition } from '../../../core/contracts/engine.ts';
import type { ModelReply } from '../servers/model-client.ts';
import { MAX_TOOL_CALLS, toolCallsOf } from './json-reply.ts';
import { callsInText } from './text-calls.ts';
import { spoken } from './thoughts.ts';

/** A reply as roles read it: what was said, without thoughts and marks, and which tools are called, however that was written. */
export type ReadReply = Required<Omit<ChatTurn, 'confidence'>>;

/**
 * @param tools that the model was offered; without any, nothing that it wrote is a call
 * @param turn number of messages before the reply, which makes ids of calls new
 */
export function readReply(
  { content, thoughts, toolCalls, finish }: ModelReply & { readonly finish: ChatTurn['finish'] },
  tools: readonly ToolDefinition[],
  turn: number,
): ReadReply {
  // What a model says travels in packets, which hold whole characters only.
  const text = content.toWellFormed();
  const mayCall = toolCalls.length === 0 && tools.length > 0;
  // Before the marks of turns go: those of calls look like them.
  const written = mayCall ? callsInText(withoutThoughts(text), tools) : undefined;
  const hasWritten = written !== undefined && written.calls.length > 0;
  const calls = hasWritten ? toolCallsOf(written.calls.slice(0, MAX_TOOL_CALLS), turn) : toolCalls;
  return {
    content: spoken(hasWritten ? written.content : text).content,
    reasoning: spoken(text, thoughts).thoughts.toWellFormed(),
    toolCalls: calls,
    finish: calls.length > 0 && finish === 'stop' ? 'tool_calls' : finish,
  };
}

/** A call that the model only thought about is none. */
function withoutThoughts(text: string): string {
  return text
    .replace(/<(think|thinking|thought|thoughts|reasoning)>[\s\S]*?(?:<\/\1>|$)/gi, '')
    .replace(/^[\s\S]*<\/(?:think|thinking|thought|thoughts|reasoning)>/i, '');
}
