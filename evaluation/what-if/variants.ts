import { encode } from '@toon-format/toon';
import type { ChatMessage, ModelExchange, ToolDefinition } from '../../core/contracts/engine.ts';
import type { PromptPart } from '../../core/contracts/prompt-part.ts';
import { partsOf } from '../../core/tokens/parts-of.ts';

/** A request as it might have been written. */
export type Prompt = Pick<ModelExchange, 'messages' | 'tools'>;

/** Another way of writing the same prompts: what it does, in words, and how. */
interface Variant {
  readonly name: string;
  readonly what: string;
  readonly write: (prompt: Prompt) => Prompt;
}

/** Of what another agent said, once it had been read in full: some 100 tokens. */
const SUMMARY_CHARACTERS = 400;

/** What each could save; none of them asks a model, so none says what it would do to the answers. */
export const VARIANTS: readonly Variant[] = [
  {
    name: 'compact JSON',
    what: 'JSON in prompts without line breaks and indentation',
    write: (prompt) => withTexts(prompt, (text) => withJson(text, (value) => JSON.stringify(value))),
  },
  {
    name: 'TOON',
    what: 'JSON in prompts as TOON, where that is shorter',
    write: (prompt) => withTexts(prompt, (text) => withJson(text, shorterOf)),
  },
  {
    name: 'tools on demand',
    what: 'names of tools and one to look them up; definitions only of those that the conversation has called',
    write: ({ messages, tools }) => ({ messages, tools: onDemand(tools, messages) }),
  },
  {
    name: 'short hand-offs',
    what: `of what another agent said the first ${SUMMARY_CHARACTERS} characters`,
    write: (prompt) =>
      withTexts(prompt, (text, { kind }) =>
        kind === 'peer' && text.length > SUMMARY_CHARACTERS
          ? `${text.slice(0, SUMMARY_CHARACTERS).toWellFormed()} …`
          : text,
      ),
  },
];

function withTexts({ messages, tools }: Prompt, change: (text: string, part: PromptPart) => string): Prompt {
  return {
    tools,
    messages: messages.map((message): ChatMessage => {
      const parts = partsOf(message).map((part) => ({ ...part, text: change(part.text, part) }));
      const content = parts.map(({ text }) => text).join('');
      return message.role === 'system' || message.role === 'user'
        ? { ...message, content, parts }
        : { ...message, content };
    }),
  };
}

/** Text that may be JSON; more than that is written once and read by no model. */
const MAX_JSON_CHARACTERS = 200_000;

/** The text with each JSON array or object in it written by `write`: where the text is one, or lines of it between fences. */
function withJson(text: string, write: (value: object) => string): string {
  const whole = jsonOf(text);
  if (whole !== undefined) return write(whole);
  return text.replace(
    /(^```(?:json)?\n)([\s\S]*?)(\n```$)/gm,
    (block, open: string, body: string, close: string) => {
      const value = jsonOf(body);
      return value === undefined ? block : open + write(value) + close;
    },
  );
}

function jsonOf(text: string): object | undefined {
  if (text.length > MAX_JSON_CHARACTERS || !/^\s*[[{]/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function shorterOf(value: object): string {
  const json = JSON.stringify(value);
  const toon = encode(value);
  return toon.length < json.length ? toon : json;
}

/** Definitions of the tools that were called, and one to look up the others by. */
function onDemand(
  tools: readonly ToolDefinition[],
  messages: readonly ChatMessage[],
): readonly ToolDefinition[] {
  if (tools.length < 2) return tools;
  const called = new Set(
    messages.flatMap((message) =>
      (message.role === 'assistant' ? (message.toolCalls ?? []) : []).map(({ name }) => name),
    ),
  );
  const names = tools.filter(({ name }) => !called.has(name)).map(({ name }) => name);
  if (names.length === 0) return tools;
  const lookUp: ToolDefinition = {
    name: 'find_tools',
    description: `Gives the definitions of tools: ${names.join(', ')}`,
    parameters: {
      type: 'object',
      properties: { names: { type: 'array', items: { type: 'string' } } },
      required: ['names'],
    },
  };
  return [lookUp, ...tools.filter(({ name }) => called.has(name))];
}
