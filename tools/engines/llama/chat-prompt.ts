import type { ChatMessage, ToolDefinition } from '@gaia-mesh/core/contracts/engine.ts';
import { parseArguments } from '../replies/json-reply.ts';
import { withTextTools } from '../requests/in-words.ts';

/** A piece of a prompt: a text, or what the chat template puts around texts, whose marks the tokenizer may recognise. */
interface PromptPiece {
  readonly text: string;
  /** Index of the message whose content it is; undefined for the template's own words. */
  readonly message: number | undefined;
}

interface RenderedPrompt {
  readonly messages: readonly ChatMessage[];
  readonly pieces: readonly PromptPiece[];
}

/** The format that most models without a template were trained on. */
const CHATML =
  "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}{% endfor %}{{ '<|im_start|>assistant\n' }}";

/** Stand-ins for contents while the template is rendered, from the private part of Unicode. */
const standIn = (index: number) => `\uE0F0${index}\uE0F1`;
const STAND_INS = /\uE0F0(\d+)\uE0F1/;

/**
 * Renders conversations with a model's own chat template.
 *
 * The template gets stand-ins for the contents, which are put in afterwards: so a document that holds a mark of the chat format cannot end
 * its message. Models whose template has no tools get them in words.
 */
export class ChatPrompt {
  readonly #render: (values: Record<string, unknown>) => string;
  /** True if the template shows tools and calls in its own words. */
  readonly hasTools: boolean;
  readonly #marks: Readonly<Record<string, string>>;

  /**
   * @param template the source of the template, if the model has one
   * @param compile returns the function that renders a template
   * @param marks the texts of the tokens that begin and end a sequence
   */
  constructor(
    template: unknown,
    compile: (source: string) => (values: Record<string, unknown>) => string,
    marks: Readonly<Record<string, string>>,
  ) {
    const source = typeof template === 'string' ? template : CHATML;
    this.#render = compile(source);
    this.hasTools = /\btools\b/.test(source);
    this.#marks = marks;
  }

  /** @throws Error of the template, for a conversation that it does not take */
  render(messages: readonly ChatMessage[], tools: readonly ToolDefinition[]): RenderedPrompt {
    const isTold = !this.hasTools && (tools.length > 0 || messages.some(({ role }) => role === 'tool'));
    const shown = isTold ? withTextTools(messages, tools) : messages;
    const offered = isTold || tools.length === 0 ? undefined : tools;
    try {
      return this.#fill(shown, offered);
    } catch {
      // Some templates know no system message, or insist on alternating sides.
      return this.#fill(foldMessages(shown), offered);
    }
  }

  #fill(messages: readonly ChatMessage[], tools: readonly ToolDefinition[] | undefined): RenderedPrompt {
    const text = this.#render({
      ...this.#marks,
      add_generation_prompt: true,
      tools: tools?.map((tool) => ({ type: 'function', function: tool })),
      messages: messages.map((message, index) => toTemplateMessage(message, standIn(index))),
    });
    const pieces = text
      .split(STAND_INS)
      .map(
        (piece, index): PromptPiece =>
          index % 2 === 0
            ? { text: piece, message: undefined }
            : { text: messages[Number(piece)]?.content ?? '', message: Number(piece) },
      );
    return { messages, pieces: pieces.filter((piece) => piece.text !== '') };
  }
}

function toTemplateMessage(message: ChatMessage, content: string) {
  // Templates look for thoughts in what the model said, to leave them out.
  if (message.role !== 'assistant') return { ...message, content };
  const { toolCalls = [] } = message;
  return {
    role: 'assistant',
    content: message.content.includes('</think>') ? message.content : message.content && content,
    tool_calls:
      toolCalls.length === 0
        ? undefined
        : toolCalls.map((call) => ({
            id: call.id,
            type: 'function',
            function: { name: call.name, arguments: parseArguments(call) },
          })),
  };
}

/** Puts the system message into the first of the user, and joins neighbours of one side. */
function foldMessages(messages: readonly ChatMessage[]): ChatMessage[] {
  const turns: { role: 'user' | 'assistant'; content: string }[] = [];
  for (const { role, content } of messages) {
    const side = role === 'assistant' ? 'assistant' : 'user';
    const last = turns.at(-1);
    if (last?.role === side) last.content += `\n\n${content}`;
    else turns.push({ role: side, content });
  }
  return turns;
}
