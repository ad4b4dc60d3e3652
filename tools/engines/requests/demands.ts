import type { ChatMessage } from '@gaia-mesh/core/contracts/engine.ts';
import { isAboutForm } from '../http/fault.ts';
import type { StatusFault } from '../http/reply-failure.ts';
import type { ModelQuery, Omittable } from '../model-format.ts';
import { withSchema, withTextTools } from './in-words.ts';

/** The features of a server that a request uses. Servers of one format differ in those that they support. */
export interface Demands {
  /** The form in which the reply's schema is demanded: enforced by the server, as JSON, or in words alone. */
  readonly reply: 'schema' | 'json' | 'text';
  /** The form of tools: the server's own, or text. */
  readonly tools: 'native' | 'text';
  readonly omits: readonly Omittable[];
}

export type ToolCalls = 'auto' | 'native' | 'text';

export function createDemands(toolCalls: ToolCalls): Demands {
  return { reply: 'schema', tools: toolCalls === 'text' ? 'text' : 'native', omits: [] };
}

/** Builds the query for sending: what the server does not support is put into words. */
export function asDemanded(query: ModelQuery, { reply, tools, omits }: Demands): ModelQuery {
  let messages: readonly ChatMessage[] = query.messages;
  const areWords = tools === 'text' && (query.tools.length > 0 || messages.some(hasToolPart));
  if (areWords) messages = withTextTools(messages, query.tools);
  if (query.schema !== undefined && reply !== 'schema') messages = withSchema(messages, query.schema);
  return { ...query, messages, tools: areWords ? [] : query.tools, reply, omits };
}

function hasToolPart(message: ChatMessage): boolean {
  return message.role === 'tool' || (message.role === 'assistant' && (message.toolCalls ?? []).length > 0);
}

const LACKS_TOOLS =
  /(?:not|n't|no|without|unsupported|requires?)\b[^.]{0,60}\b(?:tools?|functions?)\b|\b(?:tools?|function.calls?(?:ing)?)\b[^.]{0,60}(?:not|n't|unsupported|requires?)\b/i;
/** Parts of a request that a server may name when it refuses them; longer names come first. */
const OMITTABLE: readonly Omittable[] = [
  'temperature',
  'tool_choice',
  'stream_options',
  'cache_control',
  'stream',
];

/**
 * Reduces the demands after a refusal: first by the part that the server names, then by weaker forms: schema → JSON → words; tools →
 * text. Undefined if nothing is left to leave out.
 */
export function reduceDemands(
  now: Demands,
  { schema, tools }: ModelQuery,
  { message }: StatusFault,
  toolCalls: ToolCalls,
): Demands | undefined {
  const named = OMITTABLE.find(
    (part) => !now.omits.includes(part) && new RegExp(`\\b${part}\\b`, 'i').test(message),
  );
  if (named !== undefined) return { ...now, omits: [...now.omits, named] };
  const mayWrite = toolCalls === 'auto' && now.tools === 'native' && tools.length > 0;
  if (mayWrite && LACKS_TOOLS.test(message)) return { ...now, tools: 'text' };
  if (schema !== undefined && now.reply === 'schema') return { ...now, reply: 'json' };
  if (schema !== undefined && now.reply === 'json') return { ...now, reply: 'text' };
  return mayWrite && isAboutForm(message) ? { ...now, tools: 'text' } : undefined;
}

/** Describes the features that are not used from now on, for the log; empty if nothing changed. */
export function describeChanges(before: Demands, now: Demands): string[] {
  return [
    ...(before.tools === now.tools ? [] : ['tool calls are written as text']),
    ...(before.reply === now.reply
      ? []
      : [
          now.reply === 'json'
            ? 'replies are restricted to JSON, with their schema in words'
            : 'replies are free text, with their schema in words',
        ]),
    ...now.omits.filter((part) => !before.omits.includes(part)).map((part) => `${part} is left out`),
  ];
}
