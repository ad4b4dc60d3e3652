import type { ChatMessage, ChatRequest, ToolDefinition } from '@gaia-mesh/core/contracts/engine.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { cleanAnswer, hasStatedAnswer } from '../../answers/clean-answer.ts';
import { NOT_FOUND } from '../../answers/fact.ts';
import { findReader } from '../../files/reading/readers.ts';
import { findSeparator, stripForm } from '../../tables/answer-form.ts';

/** What the embedded engine hears in a conversation: the parts of prompts by their names, and what tools replied. */
export interface InboundConversation {
  /** Without what is said of the answer's form, and without notes in brackets behind it. */
  readonly question: string;
  /** What stands between the items of an answer. */
  readonly separator: string;
  /** Files that belong to the question. */
  readonly files: readonly string[];
  /** The document, or the text of the file. */
  readonly document: string;
  /** What others have found, to be read like a document. */
  readonly found: readonly string[];
  /** The answer that others have come to, in the words in which they gave it. */
  readonly concluded: string | undefined;
  /** Answers that were given before and were not accepted. */
  readonly doubted: ReadonlySet<string>;
  /** Whether the answer is to be a report of facts, as JSON. */
  readonly asksForFacts: boolean;
  readonly results: readonly ToolResult[];
  readonly tools: readonly ToolDefinition[];
}

export interface ToolResult {
  readonly tool: string;
  readonly argument: string;
  readonly text: string;
}

/** Variables of prompts that hold what others found. */
const FOUND: ReadonlySet<string> = new Set(['prior', 'facts', 'known']);

/** @throws MeshError `engine` for pictures, which it does not see */
export function parseConversation({ messages, tools = [] }: ChatRequest): InboundConversation {
  const said = new Map<string, string>();
  const add = (name: string, text: string) =>
    said.set(name, [said.get(name), text].filter(Boolean).join('\n'));
  const doubted = new Set<string>();
  let before: ChatMessage | undefined;
  for (const message of messages) {
    if (message.role === 'user') {
      if (message.images !== undefined && message.images.length > 0)
        throw new MeshError('engine', 'the embedded engine sees no images');
      // Who is spoken to again after an answer has not given the right one.
      if (before?.role === 'assistant') addDoubted(before.content, doubted);
      const named = message.parts?.filter(({ name }) => name !== undefined) ?? [];
      for (const { name = '', text } of named) add(name, text.trim());
      if (named.length === 0 && !said.has('question')) add('question', message.content.trim());
    }
    before = message;
  }
  if (said.has('feedback') && said.get('feedback') !== '') addDoubted(said.get('last') ?? '', doubted);
  const asked = said.get('task') ?? said.get('question') ?? '';
  const [question = '', ...notes] = asked.split(/\n\n(?=\[[^\]]*\]$)/);
  const concluded = said.get('conclusion');
  return {
    question: stripForm(question),
    separator: findSeparator(question),
    files: [...new Set([...parseFileName(said.get('file') ?? ''), ...notes.flatMap(parseFileNames)])],
    document: said.get('document') ?? '',
    found: [...said].flatMap(([name, text]) => (FOUND.has(name) ? stripMisses(text) : [])),
    concluded: concluded === undefined || !hasStatedAnswer(concluded) ? undefined : concluded,
    doubted,
    asksForFacts: messages.some(
      (message) => 'parts' in message && message.parts?.some(({ name }) => name === 'report_format'),
    ),
    results: listToolResults(messages),
    tools,
  };
}

/** A text without what was looked for in vain; empty where that is all. */
function stripMisses(text: string): string[] {
  const lines = text.split('\n').filter((line) => !line.startsWith(`- ${NOT_FOUND}`));
  return text === '' || lines.length === 0 ? [] : [lines.join('\n')];
}

function addDoubted(text: string, doubted: Set<string>): void {
  const answer = hasStatedAnswer(text) ? cleanAnswer(text) : null;
  if (answer !== null) doubted.add(answer);
}

/** The name of a file, behind which may stand in brackets what it is. */
function parseFileName(text: string): string[] {
  if (text === '') return [];
  const ends = [...text.matchAll(/ \(/g)].map(({ index }) => text.slice(0, index));
  return [ends.find((name) => findReader(name) !== undefined) ?? text];
}

/** Names of files in a note, in quotes. */
function parseFileNames(note: string): string[] {
  return [...note.matchAll(/"([^"\n]{1,255})"/g)].flatMap(([, name = '']) =>
    /\.\w+$/.test(name) ? [name] : [],
  );
}

function listToolResults(messages: readonly ChatMessage[]): ToolResult[] {
  const asked = new Map<string, string>();
  return messages.flatMap((message) => {
    if (message.role === 'assistant')
      for (const { id, arguments: given } of message.toolCalls ?? []) {
        const [first] = typeof given === 'string' ? [given] : Object.values(given);
        asked.set(id, typeof first === 'string' ? first : '');
      }
    if (message.role !== 'tool') return [];
    return [{ tool: message.name, argument: asked.get(message.toolCallId) ?? '', text: message.content }];
  });
}
