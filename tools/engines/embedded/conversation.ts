import type { ChatMessage, ChatRequest, ToolDefinition } from '@gaia-mesh/core/contracts/engine.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { cleanAnswer, hasStatedAnswer } from '../../answers/clean-answer.ts';
import { NOT_FOUND } from '../../answers/fact.ts';
import { findReader } from '../../files/reading/readers.ts';
import { findSeparator, stripForm } from '../../tables/answer-form.ts';

/** A conversation as the embedded engine reads it: the parts of prompts by their names, and the tools' replies. */
export interface InboundConversation {
  /** Without instructions on the answer's form, and without notes in brackets after it. */
  readonly question: string;
  /** The separator between the items of an answer. */
  readonly separator: string;
  /** Files that belong to the question. */
  readonly files: readonly string[];
  /** The document, or the text of the file. */
  readonly document: string;
  /** Findings of others, to be read like a document. */
  readonly found: readonly string[];
  /** The answer that others concluded, in their own words. */
  readonly concluded: string | undefined;
  /** Earlier answers that were rejected. */
  readonly doubted: ReadonlySet<string>;
  /** True if the answer must be a report of facts, as JSON. */
  readonly asksForFacts: boolean;
  readonly results: readonly ToolResult[];
  readonly tools: readonly ToolDefinition[];
}

export interface ToolResult {
  readonly tool: string;
  readonly argument: string;
  readonly text: string;
}

/** Variables of prompts with the findings of others. */
const FOUND: ReadonlySet<string> = new Set(['prior', 'facts', 'known']);

/** @throws MeshError `engine` for pictures, which it cannot see */
export function parseConversation({ messages, tools = [] }: ChatRequest): InboundConversation {
  const said = new Map<string, string>();
  const add = (name: string, text: string) =>
    said.set(name, [said.get(name), text].filter(Boolean).join('\n'));
  const doubted = new Set<string>();
  let before: ChatMessage | undefined;
  for (const message of messages) {
    if (message.role === 'user') {
      if (message.images !== undefined && message.images.length > 0)
        throw new MeshError('engine', 'the embedded engine cannot see images');
      // A further message after an answer means that the answer was not accepted.
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

/** Removes facts that were searched for without success; empty if nothing else is left. */
function stripMisses(text: string): string[] {
  const lines = text.split('\n').filter((line) => !line.startsWith(`- ${NOT_FOUND}`));
  return text === '' || lines.length === 0 ? [] : [lines.join('\n')];
}

function addDoubted(text: string, doubted: Set<string>): void {
  const answer = hasStatedAnswer(text) ? cleanAnswer(text) : null;
  if (answer !== null) doubted.add(answer);
}

/** Returns the name of a file, which may be followed by a description in brackets. */
function parseFileName(text: string): string[] {
  if (text === '') return [];
  const ends = [...text.matchAll(/ \(/g)].map(({ index }) => text.slice(0, index));
  return [ends.find((name) => findReader(name) !== undefined) ?? text];
}

/** Returns the file names in a note, which stand in quotes. */
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
