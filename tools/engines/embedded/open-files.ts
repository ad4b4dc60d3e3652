import { describeContent, type FileContent, findReader } from '../../files/reading/readers.ts';
import { stripFileLine } from '../../files/reading/reading.ts';
import { parseMarkdownRows } from '../../tables/markdown-rows.ts';
import type { InboundConversation, ToolResult } from './conversation.ts';

/** Something that an answer may stand in: a passage, a table as its reader shows it, what a program printed. */
export interface Matter {
  readonly form: 'text' | 'table' | 'printed';
  /** Where it is from. */
  readonly name: string;
  readonly text: string;
}

/** A tool to be asked, by the name under which it is offered. */
export interface Call {
  readonly tool: string;
  readonly argument: 'file' | 'expression';
  readonly value: string;
}

/** What the files of a question hold, as far as they are open, and what opens the others. */
interface OpenFiles {
  readonly matters: readonly Matter[];
  readonly calls: readonly Call[];
  /** Why one of them cannot be opened, to go behind "and". */
  readonly lacking: string | undefined;
}

/** What a file is called in a sentence, where nothing here opens it. */
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

/** Files of an archive that are opened, in its order. Each is a call of a tool. */
const MAX_MEMBERS = 20;
const RUNS = /\.(?:py|[cm]?[jt]s)$/i;
/** A reader for all kinds of files, where there is none for one kind. */
const ANY_READER = 'read_file';

/** The document that came with the question is what its file holds, where that is a text or a table. */
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

/** What a document is that came with a question; undefined where it is not what the file holds. */
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

/** Names in the list of an archive. */
function listMembers({ text }: ToolResult): string[] {
  const names = text.split('\n').flatMap((line) => /^(.+) \(\d+ bytes\)$/.exec(line)?.[1] ?? []);
  return names.map((name) => name.replace(/^"(.*)"$/, '$1')).slice(0, MAX_MEMBERS);
}

/** Notes of tools that stand behind what they found. */
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
