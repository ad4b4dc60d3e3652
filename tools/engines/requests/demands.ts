import type { ChatMessage } from '@gaia-mesh/core/contracts/engine.ts';
import { isAboutForm, type StatusFault } from '../http/fault.ts';
import type { ModelQuery, Omittable } from '../servers/model-client.ts';
import { withSchema, withTextTools } from './in-words.ts';

/** What is asked of a server beyond the conversation. Servers of one format differ in what they take of it. */
export interface Demands {
  /** How the form of a reply is asked for: a schema that the server holds the model to, JSON, or words alone. */
  readonly reply: 'schema' | 'json' | 'text';
  /** Whether tools are the server's, or a form of text. */
  readonly tools: 'native' | 'text';
  readonly omits: readonly Omittable[];
}

export type ToolCalls = 'auto' | 'native' | 'text';

export function createDemands(toolCalls: ToolCalls): Demands {
  return { reply: 'schema', tools: toolCalls === 'text' ? 'text' : 'native', omits: [] };
}

/** The query as it is sent: what the server does not do is said to the model. */
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
/** Parts of a request that a server may name when it refuses them; the longer names first. */
const OMITTABLE: readonly Omittable[] = [
  'temperature',
  'tool_choice',
  'stream_options',
  'cache_control',
  'stream',
];

/**
 * What to ask for after a refusal: first without the part that the server names, then with less of a form: schema → JSON → words; tools →
 * text. Undefined where nothing is left to leave out.
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

/** What is done without from now on, in words for the log; empty where nothing is new. */
export function describeChanges(before: Demands, now: Demands): string[] {
  return [
    ...(before.tools === now.tools ? [] : ['tool calls are written as text']),
    ...(before.reply === now.reply
      ? []
      : [
          now.reply === 'json'
            ? 'replies are held to JSON, and told their schema'
            : 'replies are told their schema in words alone',
        ]),
    ...now.omits.filter((part) => !before.omits.includes(part)).map((part) => `${part} is left out`),
  ];
}
