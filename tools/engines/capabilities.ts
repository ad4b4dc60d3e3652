import * as z from 'zod';

/** A server's statements about a model; null for those that it does not make. */
export interface ModelCapabilities {
  readonly model: string;
  readonly url: string;
  /** True if the server has it. */
  readonly isThere: boolean | null;
  /** True if it answers; some models only embed texts. */
  readonly chats: boolean | null;
  readonly tools: boolean | null;
  readonly vision: boolean | null;
  readonly thinking: boolean | null;
  readonly schemas: boolean | null;
  /** Tokens of the context that a request may fill, prompt and reply together. */
  readonly contextTokens: number | null;
  /** The other models of the server. */
  readonly others: readonly KnownModel[];
}

interface KnownModel {
  readonly name: string;
  readonly chats: boolean | null;
  readonly tools: boolean | null;
}

/** A team's use of a model. */
export interface ModelUse {
  readonly toolCalls: 'auto' | 'native' | 'text';
  /** True if its agents call tools. */
  readonly needsTools: boolean;
  /** Tokens of the context that the user set. */
  readonly context?: number | undefined;
}

/** Describes in one line what the model can do, and what will be used of it. */
export function formatCapabilities(capabilities: ModelCapabilities, use: ModelUse): string {
  const { model, url, tools, vision, thinking, schemas, contextTokens } = capabilities;
  const parts = [
    ...(use.needsTools ? [describeToolUse(tools, use.toolCalls)] : []),
    schemas === false ? 'replies held to JSON or words' : 'replies held to schemas',
    ...(vision === null ? [] : [vision ? 'sees pictures' : 'sees no pictures']),
    ...(thinking === true ? ['thinks before it replies'] : []),
    describeContext(contextTokens, use.context),
    ...explainUnlisted(capabilities),
  ];
  return `${model} at ${url}: ${parts.join(', ')}`;
}

function explainUnlisted({ model, isThere, others }: ModelCapabilities): string[] {
  if (isThere !== null || others.length === 0) return [];
  return [`and its list does not name ${model} (but ${listModels(others.map(({ name }) => name))})`];
}

function describeToolUse(tools: boolean | null, how: ModelUse['toolCalls']): string {
  if (how === 'text') return 'tool calls as text';
  if (tools === true) return 'tool calls';
  if (how === 'native') return 'tool calls, which the server does not mention';
  return tools === false
    ? 'tool calls as text, since it has none of its own'
    : 'tool calls, as text if it turns out to have none';
}

function describeContext(known: number | null, set: number | undefined): string {
  if (set !== undefined) return `context ${set} tokens, as set`;
  return known === null ? 'context not known (--context sets it)' : `context ${known} tokens`;
}

/** Maximum models named in a message; the rest are counted. */
const SHOWN_MODELS = 8;

/**
 * Explains why a model cannot do a team's work, and names models there that can; undefined if it can, or if that is not known.
 *
 * @param who the subject of the sentence, such as "team react"
 */
export function explainInability(
  who: string,
  capabilities: ModelCapabilities,
  use: ModelUse,
): string | undefined {
  const { model, url, isThere, chats, tools, others } = capabilities;
  const fitting = others.filter(
    (other) => other.name !== model && other.chats !== false && (!isNative(use) || other.tools !== false),
  );
  const there = listModels(fitting.map(({ name }) => name));
  if (isThere === false) return `${url} has no model ${model}${there === '' ? '' : `; it has ${there}`}`;
  if (chats === false)
    return `${who} asks questions, and ${model} at ${url} answers none${there === '' ? '' : `; these do: ${there}`}`;
  if (isNative(use) && tools === false) {
    const instead = there === '' ? '' : `; these have them: ${there}`;
    return `${who} calls tools, and ${model} at ${url} has no tool calls${instead}; or leave out --tool-calls native, and they are written as text`;
  }
  return undefined;
}

function isNative({ toolCalls, needsTools }: ModelUse): boolean {
  return needsTools && toolCalls === 'native';
}

function listModels(names: readonly string[]): string {
  const more = names.length - SHOWN_MODELS;
  return names.slice(0, SHOWN_MODELS).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** A question about a model, with the way to ask its server. */
export interface CapabilityQuery {
  readonly url: string;
  readonly model: string;
  /** Returns a reply of the server, or undefined if it has none in this form. It is a GET without a body. */
  readonly ask: <Reply>(url: URL, schema: z.ZodType<Reply>, body?: object) => Promise<Reply | undefined>;
}

/** Fields of servers' statements; a field of another type counts as omitted. */
export const optionalNumber = z.int().positive().nullish().catch(undefined);
export const optionalBoolean = z.boolean().nullish().catch(undefined);
