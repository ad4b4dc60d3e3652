import type { JsonObject, JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import { listOf, objectOf, textOf, unpacked } from '../loose-values.ts';

/** A tool that a model asks for. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/** A request of OpenAI's chat completions, completions or responses, or of Anthropic's messages. */
export function isRequest({ messages, input, prompt, model, object, type }: JsonObject): boolean {
  if (object === 'response' || object === 'chat.completion' || type === 'message') return false;
  if (Array.isArray(messages)) return true;
  return typeof model === 'string' && (Array.isArray(input) || typeof (input ?? prompt) === 'string');
}

/** A response to one of them, or the error in its place. */
export function isResponse({ choices, object, type, content, output, error, events }: JsonObject): boolean {
  if (Array.isArray(choices) || Array.isArray(events)) return true;
  if (type === 'message' && Array.isArray(content)) return true;
  if (object === 'response' && Array.isArray(output)) return true;
  return objectOf(error)?.message !== undefined;
}

/** Whether a request or a response is Anthropic's. */
export function isAnthropic(object: JsonObject): boolean {
  if (object.type === 'message' && Array.isArray(object.content)) return true;
  if (typeof object.max_tokens !== 'number' || !Array.isArray(object.messages)) return false;
  const isOpenAi = object.messages.some((message) =>
    ['system', 'tool'].includes(String(objectOf(message)?.role)),
  );
  const tools = listOf(object.tools).map(objectOf);
  return !isOpenAi && (object.system !== undefined || tools.some((tool) => tool?.input_schema !== undefined));
}

/** Calls in a response, in the order in which it has them. */
export function toolCallsOf({ choices, content, output }: JsonObject): ToolCall[] {
  const chat = listOf(choices)
    .flatMap((choice) => listOf(objectOf(objectOf(choice)?.message)?.tool_calls))
    .flatMap((call) => {
      const { id, function: named } = objectOf(call) ?? {};
      const { name, arguments: input } = objectOf(named) ?? {};
      return { id, name, input: unpacked(input) };
    });
  const blocks = [...listOf(content), ...listOf(output)].flatMap((block) => {
    const { type, id, call_id, name, input, arguments: packed } = objectOf(block) ?? {};
    if (type === 'tool_use') return [{ id, name, input }];
    return type === 'function_call' ? [{ id: call_id, name, input: unpacked(packed) }] : [];
  });
  return [...chat, ...blocks].flatMap(({ id, name, input }) => {
    const [known, named] = [textOf(id), textOf(name)];
    return known === undefined || named === undefined ? [] : [{ id: known, name: named, input }];
  });
}

interface ToolResult {
  readonly id: string;
  readonly result: unknown;
}

/** Results of tools that a request brings, by the ids of their calls. */
export function toolResultsOf({ messages, input }: JsonObject): ToolResult[] {
  return [...listOf(messages), ...listOf(input)].flatMap((item): ToolResult[] => {
    const message = objectOf(item) ?? {};
    const id = textOf(message.tool_call_id);
    if (message.role === 'tool' && id !== undefined)
      return [{ id, result: { content: message.content ?? null } }];
    const call = textOf(message.call_id);
    if (message.type === 'function_call_output' && call !== undefined)
      return [{ id: call, result: { output: message.output ?? null } }];
    return listOf(message.content).flatMap((part) => {
      const { type, tool_use_id, content, is_error } = objectOf(part) ?? {};
      const used = textOf(tool_use_id);
      if (type !== 'tool_result' || used === undefined) return [];
      return [
        { id: used, result: { content: content ?? null, ...(is_error === undefined ? {} : { is_error }) } },
      ];
    });
  });
}

/** What a message says. */
export function blocksOf({ content }: JsonObject): JsonValue {
  return content ?? null;
}
