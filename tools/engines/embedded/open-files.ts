import type { ChatMessage, ChatRequest, ToolDefinition } from '@gaia-mesh/core/contracts/engine.ts';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { cleanAnswer, hasStatedAnswer } from '../../answers/clean-answer.ts';
import { NOT_FOUND } from '../../answers/fact.ts';
import { describeContent, type FileContent, findReader } from '../../files/reading/readers.ts';
import { stripFileLine } from '../../files/reading/reading.ts';
import { findSeparator, stripForm } from '../../tables/answer-form.ts';
import { parseMarkdownRows } from '../../tables/markdown-rows.ts';

/** A conversation as the embedded engine reads it: the parts of prompts by their names, the tools' replies, and the files that are open. */
export interface Inbound extends OpenFiles {
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

interface ToolResult {
  readonly tool: string;
  readonly argument: string;
  readonly text: string;
}

/** Variables of prompts with the findings of others. */
const FOUND: ReadonlySet<string> = new Set(['prior', 'facts', 'known']);

/**
 * Reads a conversation and opens its files.
 *
 * @throws MeshError `engine` for pictures, which it cannot see
 */
export function readConversation(request: ChatRequest): Inbound {
  const inbound = parseConversation(request);
  return { ...inbound, ...openFiles(inbound) };
}

function parseConversation({ messages, tools = [] }: ChatRequest): Omit<Inbound, keyof OpenFiles> {
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

/** Something that may contain an answer: a passage, a table as its reader shows it, a program's output. */
export interface Matter {
  readonly form: 'text' | 'table' | 'printed';
  /** The name of its source. */
  readonly name: string;
  readonly text: string;
}

/** A tool to call, by the name under which it is offered. */
export interface Call {
  readonly tool: string;
  readonly argument: 'file' | 'expression';
  readonly value: string;
}

/** The contents of a question's files that are open, and the calls that open the others. */
interface OpenFiles {
  readonly matters: readonly Matter[];
  readonly calls: readonly Call[];
  /** The reason why one of them cannot be opened, worded to follow "and". */
  readonly lacking: string | undefined;
}

/** Names of kinds of files for messages. */
const NAMES: Readonly<Record<FileContent, string>> = {
  text: 'a text',
  table: 'a table',
  data: 'a data file',
  program: 'a program',
  archive: 'an archive',
  picture: 'a picture',
  recording: 'a recording',
  unknown: 'a file of an unknown kind',
};

/** Maximum files of an archive that are opened, in its order. Each is a tool call. */
const MAX_MEMBERS = 20;
const RUNS = /\.(?:py|[cm]?[jt]s)$/i;
/** The reader for all kinds of files, if a kind has no reader of its own. */
const ANY_READER = 'read_file';

/** Opens the files. A document that came with the question is its file's content, if that is a text or a table. */
function openFiles({ files, document, results, tools }: Omit<Inbound, keyof OpenFiles>): OpenFiles {
  const matters: Matter[] = [];
  const calls: Call[] = [];
  let lacking: string | undefined;
  const offered = new Set(tools.map(({ name }) => name));
  if (document !== '' && files.length === 0) matters.push({ form: 'text', name: '', text: document });
  const open = (file: string, isMember: boolean): void => {
    const content = describeContent(file);
    const form = isMember ? undefined : detectForm(content, document);
    if (form !== undefined) {
      matters.push({ form, name: file, text: document });
      return;
    }
    const tool = chooseTool(file, content, offered);
    if (tool === undefined || (content === 'archive' && isMember)) {
      lacking ??= `${file} is ${NAMES[content]}`;
      return;
    }
    const reply = results.find((result) => result.argument === file && result.tool === tool);
    if (reply === undefined) {
      calls.push({ tool, argument: 'file', value: file });
      return;
    }
    const error = /^Error: ([\s\S]*)/.exec(reply.text)?.[1];
    if (error !== undefined) lacking ??= error;
    else if (content === 'archive') for (const member of listMembers(reply)) open(`${file}/${member}`, true);
    else {
      const matter = toMatter(content, file, reply.text);
      if (matter === undefined) lacking ??= explainUnread(file, content);
      else matters.push(matter);
    }
  };
  for (const file of files) open(file, false);
  return { matters, calls, lacking };
}

/** Returns the form of a document that came with a question; undefined if it is not the file's content. */
function detectForm(content: FileContent, document: string): 'text' | 'table' | undefined {
  if (content === 'table') return parseMarkdownRows(document) === undefined ? undefined : 'table';
  return content === 'text' && document !== '' ? 'text' : undefined;
}

function chooseTool(file: string, content: FileContent, offered: ReadonlySet<string>): string | undefined {
  const reader = findReader(file) ?? '';
  const wanted: readonly string[] =
    content === 'picture'
      ? ['analyze_image']
      : content === 'program'
        ? RUNS.test(file)
          ? ['execute_python_file']
          : []
        : content === 'text' || content === 'table' || content === 'archive'
          ? [reader, ANY_READER]
          : [];
  return wanted.find((tool) => offered.has(tool));
}

/** Returns the names in an archive's list. */
function listMembers({ text }: ToolResult): string[] {
  const names = text.split('\n').flatMap((line) => /^(.+) \(\d+ bytes\)$/.exec(line)?.[1] ?? []);
  return names.map((name) => name.replace(/^"(.*)"$/, '$1')).slice(0, MAX_MEMBERS);
}

/** Matches the notes that tools append to their findings. */
const NOTES = /\n\n(?:No vision model is set[^\n]*|\[[^\n]*\])$/;

function toMatter(content: FileContent, file: string, reply: string): Matter | undefined {
  if (reply.trim() === '') return undefined;
  if (content === 'picture') {
    const [, text = ''] =
      /^Text in .*:\n([\s\S]+)$/.exec(reply.replace(NOTES, '')) ??
      (reply.startsWith('not found:') ? [] : ['', reply]);
    return text === '' ? undefined : { form: 'text', name: file, text };
  }
  if (content === 'program') {
    const hasFailed = /^(?:Traceback \(|\[|\w*Error\b)|^ +at .+:\d+/m.test(reply);
    return hasFailed ? undefined : { form: 'printed', name: file, text: reply.trim() };
  }
  const text = stripFileLine(reply);
  const form = detectForm(content, text);
  return form === undefined ? undefined : { form, name: file, text };
}

function explainUnread(file: string, content: FileContent): string {
  if (content === 'picture') return `${file} is ${NAMES.picture} without words`;
  if (content === 'program') return `${file} is ${NAMES.program} that did not run to its end`;
  return `${file} is ${NAMES[content]}`;
}
