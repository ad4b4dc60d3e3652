import type { ChatMessage, ToolDefinition } from '@gaia-mesh/core/contracts/engine.ts';
import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import type { PromptKind } from '@gaia-mesh/core/contracts/prompt-part.ts';
import { formatForeignJson } from '@gaia-mesh/core/system/parse-json.ts';
import { listParts } from '@gaia-mesh/core/tokens/parts-of.ts';
import { parseArguments } from '../replies/json-reply.ts';

/** Adds the schema in words, for servers that cannot enforce one. */
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
 * Rewrites a conversation with tools as text, for models without tool calls: the system message explains how to write a call, calls are
 * blocks in the model's text, and results are user messages. The form is that of Hermes and Qwen, which other models know from their
 * training.
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
          `<tool_call>\n${formatForeignJson({ name: call.name, arguments: parseArguments(call) })}\n</tool_call>`,
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

/** Merges consecutive messages of the same side: many templates insist on alternating sides. */
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
        images: images.length === 0 ? undefined : images,
      };
    } else turns.push(message);
  }
  return turns;
}

/** Adds a text to the system message; `kind` is its category in the token ledger. */
function withSystem(
  messages: readonly ChatMessage[],
  told: string,
  kind: PromptKind,
): [ChatMessage, ...ChatMessage[]] {
  const [first, ...rest] = messages;
  // An existing system message is extended: some models' templates accept only one, and only as the first message.
  if (first?.role !== 'system')
    return [{ role: 'system', content: told, parts: [{ kind, text: told }] }, ...messages];
  const text = `\n\n${told}`;
  const { content, parts = [{ kind: 'system', text: content }] } = first;
  return [{ role: 'system', content: content + text, parts: [...parts, { kind, text }] }, ...rest];
}
