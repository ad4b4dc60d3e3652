import type { ChatMessage, ToolDefinition } from '@gaia-mesh/core/contracts/engine.ts';
import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import type { PromptKind } from '@gaia-mesh/core/contracts/prompt-part.ts';
import { listParts } from '@gaia-mesh/core/tokens/parts-of.ts';
import { parseArguments } from '../replies/json-reply.ts';

/** The conversation with the schema said in words, for servers that do not hold a model to one. */
export function withSchema(messages: readonly ChatMessage[], schema: JsonObject): ChatMessage[] {
  return withSystem(
    messages,
    `Reply with one JSON object and nothing else. It must fit this JSON Schema: ${JSON.stringify(schema)}`,
    'structure',
  );
}

const HOW = `You have tools. To use one, write a block of this form, with the name of the tool and its arguments as JSON, and nothing after it:

<tool_call>
{"name": "TOOL", "arguments": {"ARGUMENT": "VALUE"}}
</tool_call>

The result comes in the next message. Never write a result yourself. When you need no tool any more, reply without such a block.

The tools, each with the JSON Schema of its arguments:`;

/**
 * A conversation with tools in words alone, for models that know no tool calls: the system message says how a call is written, calls are
 * blocks of the model's own text, results are what the user says next. The form is that of Hermes and Qwen, which others know from their
 * reading.
 */
export function withTextTools(
  messages: readonly ChatMessage[],
  tools: readonly ToolDefinition[],
): ChatMessage[] {
  const told = [HOW, ...tools.map((tool) => JSON.stringify(tool))].join('\n');
  const [system, ...rest] = withSystem(messages, told, 'tools');
  return [system, ...joinMessages(rest.map(describeMessage))];
}

function describeMessage(message: ChatMessage): ChatMessage {
  switch (message.role) {
    case 'assistant': {
      const { content, toolCalls = [] } = message;
      const calls = toolCalls.map(
        (call) =>
          `<tool_call>\n${JSON.stringify({ name: call.name, arguments: parseArguments(call) })}\n</tool_call>`,
      );
      return { role: 'assistant', content: [content, ...calls].filter((part) => part !== '').join('\n') };
    }
    case 'tool': {
      const text = `<tool_response>\n${message.content}\n</tool_response>`;
      return { role: 'user', content: text, parts: [{ kind: 'tool_result', text }] };
    }
    default:
      return message;
  }
}

/** Messages of one side that follow each other are one: many templates insist on sides that take turns. */
function joinMessages(messages: readonly ChatMessage[]): ChatMessage[] {
  const turns: ChatMessage[] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    if (last?.role === 'user' && message.role === 'user') {
      const images = [...(last.images ?? []), ...(message.images ?? [])];
      turns[turns.length - 1] = {
        role: 'user',
        content: `${last.content}\n${message.content}`,
        parts: [...listParts(last), { kind: 'structure', text: '\n' }, ...listParts(message)],
        ...(images.length === 0 ? {} : { images }),
      };
    } else turns.push(message);
  }
  return turns;
}

/** The conversation with something more in its system message; `kind` is what the token ledger has it for. */
function withSystem(
  messages: readonly ChatMessage[],
  told: string,
  kind: PromptKind,
): [ChatMessage, ...ChatMessage[]] {
  const [first, ...rest] = messages;
  // In the message that is there: some models' templates know only one, and only as the first.
  if (first?.role !== 'system')
    return [{ role: 'system', content: told, parts: [{ kind, text: told }] }, ...messages];
  const text = `\n\n${told}`;
  const { content, parts = [{ kind: 'system', text: content }] } = first;
  return [{ role: 'system', content: content + text, parts: [...parts, { kind, text }] }, ...rest];
}
