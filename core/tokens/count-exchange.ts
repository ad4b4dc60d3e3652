import type { ChatMessage, ModelExchange, ToolCall, ToolDefinition } from '../contracts/engine.ts';
import { hashText } from '../contracts/model-exchange.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../contracts/packet.ts';
import type { PromptKind, PromptPart, TokenCounts } from '../contracts/prompt-part.ts';
import { formatForeignJson } from '../system/parse-json.ts';
import { listParts } from './parts-of.ts';

/** The vocabulary is loaded when the first exchange is counted. */
type Vocabulary = typeof import('./o200k.ts')['o200k'];

/** The marks that the chat format of a model's server puts around messages. */
interface ChatFormat {
  /** True if it is the model's own; the tokens of any other model are estimated. */
  readonly known: boolean;
  /** Tokens of the marks around a message: start, role, separator, end. */
  readonly messageMarks: number;
  /** Tokens after the last message that begin the reply. */
  readonly replyMarks: number;
}

/**
 * Marks of ChatML in the tokenizers of the GPT-4 family: `<|im_start|>role<|im_sep|>…<|im_end|>`, then
 * `<|im_start|>assistant<|im_sep|>`.
 */
const CHATML = { messageMarks: 4, replyMarks: 3 };
/**
 * Marks of Harmony, the format of gpt-oss (cookbook.openai.com/articles/openai-harmony):
 * `<|start|>role<|message|>…<|end|>`, then `<|start|>assistant`.
 */
const HARMONY = { messageMarks: 4, replyMarks: 2 };

/** Tokens of one exchange with a model. */
interface CountedExchange extends TokenCounts {
  /** True if the model's own encoding and chat format are known; otherwise the count is an estimate. */
  readonly known: boolean;
}

/**
 * Tokens that OpenAI's API adds around tool definitions, and removes from a system message that they join
 * (measured by its users; values from gpt-tokenizer).
 */
const TOOL_MARKS = 9;
const SYSTEM_WITH_TOOLS = -4;
/** Tokens of the marks around a call in an assistant's message, which separate its name and arguments. */
const CALL_MARKS = 3;

/**
 * Maximum counts that are kept of texts that models read again turn after turn: a conversation has some sixty
 * parts.
 */
const MAX_KEPT_COUNTS = 2_000;
const kept = new Map<string, readonly number[]>();

type Counted = Pick<ModelExchange, 'model' | 'messages' | 'tools' | 'counts'> & {
  readonly reply: Pick<ModelExchange['reply'], 'content' | 'reasoning' | 'toolCalls'>;
};

/**
 * Formats tool definitions as OpenAI's models read them: a TypeScript namespace in the system message, which
 * the API builds from their JSON Schemas (the format is published for gpt-oss:
 * cookbook.openai.com/articles/openai-harmony, "Function calling").
 */
function formatTools(tools: readonly ToolDefinition[]): string {
  const lines = tools.flatMap(({ name, description, parameters }) => {
    const fields = formatFields(parameters, 0);
    const type = fields === '' ? `type ${name} = () => any;` : `type ${name} = (_: {\n${fields}\n}) => any;`;
    return [`// ${description}`, type, ''];
  });
  return ['namespace functions {', '', ...lines, '} // namespace functions'].join('\n');
}

function formatFields({ properties, required }: JsonObject, indent: number): string {
  if (properties === undefined || !isJsonObject(properties)) return '';
  const needed = new Set(Array.isArray(required) ? required : []);
  const space = ' '.repeat(indent);
  return Object.entries(properties)
    .flatMap(([name, schema]) => {
      const { description } = isJsonObject(schema) ? schema : {};
      const comment = typeof description === 'string' && indent < 2 ? [`${space}// ${description}`] : [];
      return [...comment, `${space}${name}${needed.has(name) ? '' : '?'}: ${formatType(schema, indent)},`];
    })
    .join('\n');
}

function formatType(schema: JsonValue, indent: number): string {
  if (!isJsonObject(schema)) return 'any';
  const choices = Array.isArray(schema.enum) ? schema.enum : undefined;
  switch (schema.type) {
    case 'string':
      return choices?.map((choice) => JSON.stringify(choice)).join(' | ') ?? 'string';
    case 'integer':
    case 'number':
      return choices?.join(' | ') ?? 'number';
    case 'boolean':
    case 'null':
      return schema.type;
    case 'array':
      return `${schema.items === undefined ? 'any' : formatType(schema.items, indent)}[]`;
    case 'object':
      return `{\n${formatFields(schema, indent + 2)}\n${' '.repeat(indent)}}`;
    default:
      return 'any';
  }
}

/**
 * Counts the tokens of one exchange with a model by kind of part: by the server's own count of its parts, or with
 * `o200k_base`, the vocabulary of OpenAI's models since GPT-4o, gpt-oss among them. For any other model that is an
 * estimate. The residual is the difference to the server's count: `promptTokens − Σ parts`, `completionTokens − Σ`
 * of the three.
 */
export async function countExchange({
  model,
  messages,
  tools,
  reply,
  counts,
}: Counted): Promise<CountedExchange> {
  if (counts !== undefined) return { known: true, ...counts };
  const format = findChatFormat(model);
  // The table of the vocabulary has 2 MB.
  const { o200k } = await import('./o200k.ts');
  const parts: TokenCounts['parts'] = [];
  const add = (kind: PromptKind, text: string, tokens: number) => {
    if (tokens !== 0) parts.push({ kind, tokens, digest: hashText(text) });
  };
  let marks = format.replyMarks;
  if (tools.length > 0) {
    const text = formatTools(tools);
    add('tools', text, countTextTokens(text, o200k) + TOOL_MARKS);
  }
  for (const message of messages) {
    marks += format.messageMarks;
    const texts = listParts(message);
    countPartTokens(texts, o200k).forEach((tokens, index) => {
      const part = texts[index];
      if (part !== undefined) add(part.kind, part.text, tokens);
    });
    for (const call of listToolCalls(message)) {
      const text = callText(call);
      add('history', text, countTextTokens(text, o200k) + CALL_MARKS);
    }
  }
  // The line break between a system message and tool definitions is counted with the definitions.
  if (tools.length > 0 && messages.some(({ role }) => role === 'system')) marks += SYSTEM_WITH_TOOLS + 1;
  parts.push({ kind: 'structure', tokens: marks, digest: '' });
  return {
    known: format.known,
    parts,
    completion: {
      answer: countTextTokens(reply.content, o200k),
      reasoning: countTextTokens(reply.reasoning ?? '', o200k),
      tool_calls: reply.toolCalls.reduce((sum, call) => sum + countTextTokens(callText(call), o200k), 0),
    },
  };
}

function listToolCalls(message: ChatMessage): readonly ToolCall[] {
  return message.role === 'assistant' ? (message.toolCalls ?? []) : [];
}

function callText({ name, arguments: given }: ToolCall): string {
  return name + (typeof given === 'string' ? given : formatForeignJson(given));
}

function countTextTokens(text: string, vocabulary: Vocabulary): number {
  return countPartTokens([{ kind: 'structure', text }], vocabulary)[0] ?? 0;
}

/**
 * Returns the tokens of each part of one text. The whole text is encoded, as a server does it, and a token
 * counts for the part in which it begins: the sum is therefore that of the whole text, wherever the parts
 * end. Marks of the chat format in a document are text: servers do not let a document end a message.
 */
function countPartTokens(parts: readonly PromptPart[], vocabulary: Vocabulary): readonly number[] {
  const key = hashText(JSON.stringify(parts.map(({ text }) => text)));
  const known = kept.get(key);
  if (known !== undefined) return known;
  const counts = parts.map(() => 0);
  let index = 0;
  let end = parts[0]?.text.length ?? 0;
  let at = 0;
  for (const { text, tokens } of vocabulary.pieces(parts.map(({ text }) => text).join(''))) {
    while (at >= end && index < parts.length - 1) {
      index += 1;
      end += parts[index]?.text.length ?? 0;
    }
    counts[index] = (counts[index] ?? 0) + tokens;
    at += text.length;
  }
  const [oldest] = kept.keys();
  if (kept.size >= MAX_KEPT_COUNTS && oldest !== undefined) kept.delete(oldest);
  kept.set(key, counts);
  return counts;
}

/** Finds the chat format of `model` by its name. */
function findChatFormat(model: string): ChatFormat {
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase();
  if (name.startsWith('gpt-oss')) return { ...HARMONY, known: true };
  // GPT-3.5 and the first GPT-4 had another vocabulary.
  return { ...CHATML, known: /^(gpt-(?!3\.5|4(?![.o]|-o))|chatgpt-|o[1-9])/.test(name) };
}
