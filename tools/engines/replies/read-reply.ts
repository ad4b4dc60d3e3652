import type { ChatTurn, ToolCall, ToolDefinition } from '@gaia-mesh/core/contracts/engine.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '@gaia-mesh/core/contracts/packet.ts';
import { buildToolCalls, MAX_TOOL_CALLS, parseLoosely } from './json-reply.ts';
import { findTextCalls } from './text-calls.ts';

/**
 * Returns a reply as roles read it: the text without thoughts and marks, and the tool calls in whichever form they were written.
 *
 * @param tools the tools that the model was offered; without any, none of its text is a call
 * @param turn number of messages before the reply, which makes ids of calls new
 */
export function readReply(
  { content, reasoning, toolCalls, finish }: ChatTurn,
  tools: readonly ToolDefinition[],
  turn: number,
): ChatTurn {
  // The reply travels in packets, which hold only whole characters.
  const text = content.toWellFormed();
  const mayCall = toolCalls.length === 0 && tools.length > 0;
  // Calls are found before turn marks are removed, because their own marks look alike.
  const written = mayCall ? findTextCalls(dropThoughts(text), tools) : undefined;
  const hasWritten = written !== undefined && written.calls.length > 0;
  const made = hasWritten ? buildToolCalls(written.calls.slice(0, MAX_TOOL_CALLS), turn) : toolCalls;
  const calls = made.map((call) => fitCall(call, tools));
  return {
    content: readSpoken(hasWritten ? written.content : text).content,
    reasoning: readSpoken(text, reasoning).thoughts.toWellFormed() || undefined,
    toolCalls: calls,
    finish: calls.length > 0 && finish === 'stop' ? 'tool_calls' : finish,
  };
}

function fitCall(call: ToolCall, tools: readonly ToolDefinition[]): ToolCall {
  const tool = tools.find(({ name }) => name === call.name);
  if (tool === undefined || typeof call.arguments === 'string') return call;
  return { ...call, arguments: fitArguments(call.arguments, tool.parameters) };
}

/** Fits the arguments of a call to the tool's schema: values of another type that are in quotes, and arguments within arguments. */
function fitArguments(given: JsonObject, { properties }: JsonObject): JsonObject {
  if (!isJsonObject(properties)) return given;
  const [key = '', ...others] = Object.keys(given);
  const inner = given[key];
  if (
    others.length === 0 &&
    /^(?:arguments|args|kwargs|parameters|input)$/.test(key) &&
    !(key in properties)
  ) {
    const whole = typeof inner === 'string' ? parseLoosely(inner) : inner;
    if (isJsonObject(whole)) return fitArguments(whole, { properties });
  }
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      const { type } = isJsonObject(properties[name]) ? properties[name] : {};
      if (typeof value !== 'string' || typeof type !== 'string' || type === 'string') return [name, value];
      const parsed = parseLoosely(value);
      return [name, isOfType(parsed, type) ? parsed : value];
    }),
  );
}

function isOfType(value: unknown, type: string): value is JsonValue {
  switch (type) {
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isJsonObject(value);
    case 'integer':
      return Number.isSafeInteger(value);
    default:
      return typeof value === type;
  }
}

/** Removes thoughts: a call in them was only considered, not made. */
function dropThoughts(text: string): string {
  return text
    .replace(/<(think|thinking|thought|thoughts|reasoning)>[\s\S]*?(?:<\/\1>|$)/gi, '')
    .replace(/^[\s\S]*<\/(?:think|thinking|thought|thoughts|reasoning)>/i, '');
}

/** A model's text, and its thoughts before it. */
interface Spoken {
  readonly content: string;
  readonly thoughts: string;
}

/** Tags around thoughts of reasoning models, if the server does not remove them; the names are those of the models' templates. */
const THOUGHTS = /<(think|thinking|thought|thoughts|reasoning)>([\s\S]*?)<\/\1>/gi;
const OPENED = /<(?:think|thinking|thought|thoughts|reasoning)>([\s\S]*)$/i;
const CLOSED = /^([\s\S]*)<\/(?:think|thinking|thought|thoughts|reasoning)>/i;

/** The channels of gpt-oss, if no server has separated them. */
const FINAL_CHANNEL = /<\|channel\|>final(?:\s+[^<]*)?<\|message\|>/g;

/**
 * Turn marks that a server with a wrong template leaves in the text: of ChatML, Llama, Gemma, Mistral, Phi, DeepSeek and gpt-oss. A mark
 * that begins another participant's turn ends the model's own.
 */
const END_OF_TURN =
  /<\|(?:im_start|start_header_id|user|system|observation)\|>(?!assistant)|<start_of_turn>(?!model)|<｜(?:User|end▁of▁sentence)｜>/;
const MARKS =
  /<\|start\|>assistant|<\|channel\|>\w+(?:\s[^<]*)?|<\|im_start\|>assistant\n?|<start_of_turn>model\n?|<\|start_header_id\|>assistant<\|end_header_id\|>|<\|(?:im_end|im_start|eot_id|eom_id|end|end_of_text|endoftext|return|assistant|begin_of_text|message|start)\|>|^\s*<s>|<\/s>(?=\s*$)|<(?:end|start)_of_turn>|\[\/?INST\]|<｜tool▁calls▁(?:begin|end)｜>|<｜(?:Assistant|begin▁of▁sentence)｜>/g;

/**
 * Separates a reply's text from thoughts and marks. Thoughts without an end take the whole rest: the reply was cut off within
 * them.
 *
 * @param reasoning thoughts that the server itself separated
 */
function readSpoken(text: string, reasoning = ''): Spoken {
  const thoughts = [reasoning];
  const [, ...channels] = text.split(FINAL_CHANNEL);
  const last = channels.at(-1);
  let content = last ?? text;
  if (last !== undefined) thoughts.push(stripTurnMarks(text.slice(0, text.length - last.length)));
  content = content.replace(THOUGHTS, (_, _tag, inner: string) => {
    thoughts.push(inner);
    return '';
  });
  const closed = CLOSED.exec(content);
  if (closed !== null) {
    thoughts.push(closed[1] ?? '');
    content = content.slice(closed[0].length);
  }
  const opened = OPENED.exec(content);
  if (opened !== null) {
    thoughts.push(opened[1] ?? '');
    content = content.slice(0, opened.index);
  }
  return { content: stripTurnMarks(content), thoughts: joinThoughts(thoughts) };
}

function stripTurnMarks(text: string): string {
  const begun = text.replace(/^\s*<\|im_start\|>assistant\n?/, '');
  const end = END_OF_TURN.exec(begun);
  const own = end === null || begun.slice(0, end.index).trim() === '' ? begun : begun.slice(0, end.index);
  return own.replace(MARKS, '').trim();
}

function joinThoughts(thoughts: readonly string[]): string {
  return thoughts
    .map((thought) => thought.trim())
    .filter((thought) => thought !== '')
    .join('\n\n');
}
