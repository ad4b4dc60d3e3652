import { describeContent, type FileContent, findReader } from '../../files/reading/readers.ts';
import { stripFileLine } from '../../files/reading/reading.ts';
import { parseMarkdownRows } from '../../tables/markdown-rows.ts';
import type { InboundConversation, ToolResult } from './conversation.ts';

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
export function openFiles({ files, document, results, tools }: InboundConversation): OpenFiles {
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
