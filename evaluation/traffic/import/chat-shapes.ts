import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { toList, toObject, toText, unpackJson } from '../loose-values.ts';

/** A tool call in a model's response. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/** Tells if an object is a request of OpenAI's chat completions, completions or responses, or of Anthropic's messages. */
export function isRequest({ messages, input, prompt, model, object, type }: JsonObject): boolean {
  if (object === 'response' || object === 'chat.completion' || type === 'message') return false;
  if (Array.isArray(messages)) return true;
  return typeof model === 'string' && (Array.isArray(input) || typeof (input ?? prompt) === 'string');
}

/** Tells if an object is a response to such a request, or an error in its place. */
export function isResponse({ choices, object, type, content, output, error, events }: JsonObject): boolean {
  if (Array.isArray(choices) || Array.isArray(events)) return true;
  if (type === 'message' && Array.isArray(content)) return true;
  if (object === 'response' && Array.isArray(output)) return true;
  return toObject(error)?.message !== undefined;
}

/** Tells if a request or a response is Anthropic's. */
export function isAnthropic(object: JsonObject): boolean {
  if (object.type === 'message' && Array.isArray(object.content)) return true;
  if (typeof object.max_tokens !== 'number' || !Array.isArray(object.messages)) return false;
  const isOpenAi = object.messages.some((message) =>
    ['system', 'tool'].includes(String(toObject(message)?.role)),
  );
  const tools = toList(object.tools).map(toObject);
  return !isOpenAi && (object.system !== undefined || tools.some((tool) => tool?.input_schema !== undefined));
}

/** Returns the tool calls of a response, in order. */
export function readToolCalls({ choices, content, output }: JsonObject): ToolCall[] {
  const chat = toList(choices)
    .flatMap((choice) => toList(toObject(toObject(choice)?.message)?.tool_calls))
    .flatMap((call) => {
      const { id, function: named } = toObject(call) ?? {};
      const { name, arguments: input } = toObject(named) ?? {};
      return { id, name, input: unpackJson(input) };
    });
  const blocks = [...toList(content), ...toList(output)].flatMap((block) => {
    const { type, id, call_id, name, input, arguments: packed } = toObject(block) ?? {};
    if (type === 'tool_use') return [{ id, name, input }];
    return type === 'function_call' ? [{ id: call_id, name, input: unpackJson(packed) }] : [];
  });
  return [...chat, ...blocks].flatMap(({ id, name, input }) => {
    const [known, named] = [toText(id), toText(name)];
    return known === undefined || named === undefined ? [] : [{ id: known, name: named, input }];
  });
}

interface ToolResult {
  readonly id: string;
  readonly result: unknown;
}

/** Returns the tool results in a request, with the ids of their calls. */
export function readToolResults({ messages, input }: JsonObject): ToolResult[] {
  return [...toList(messages), ...toList(input)].flatMap((item): ToolResult[] => {
    const message = toObject(item) ?? {};
    const id = toText(message.tool_call_id);
    if (message.role === 'tool' && id !== undefined)
      return [{ id, result: { content: message.content ?? null } }];
    const call = toText(message.call_id);
    if (message.type === 'function_call_output' && call !== undefined)
      return [{ id: call, result: { output: message.output ?? null } }];
    return toList(message.content).flatMap((part) => {
      const { type, tool_use_id, content, is_error } = toObject(part) ?? {};
      const used = toText(tool_use_id);
      if (type !== 'tool_result' || used === undefined) return [];
      return [{ id: used, result: { content: content ?? null, is_error } }];
    });
  });
}
