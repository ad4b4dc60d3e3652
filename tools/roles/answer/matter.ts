import { contentOfFile, type FileContent, readerFor } from '../../files/reading/readers.ts';
import { contentOf } from '../../files/reading/reading.ts';
import { rowsIn } from '../../tables/markdown-rows.ts';
import type { RoleWork } from '../role-work.ts';

/** Something that an answer may stand in: a passage, a table as its reader shows it, what a program printed. */
export interface Matter {
  readonly form: 'text' | 'table' | 'printed';
  /** Where it is from. */
  readonly name: string;
  readonly text: string;
}

/** Why there is none, to go behind "and". */
export interface NoMatter {
  readonly lacking: string;
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

/** What of a role's work is needed to open files. */
type Opener = Pick<RoleWork, 'tools' | 'use' | 'reasoning'>;

/** Files of an archive that are opened, in its order. Each is a call of a tool. */
const MAX_MEMBERS = 20;
const RUNS = /\.(?:py|[cm]?[jt]s)$/i;

/**
 * Opens a file by the tool for what it holds: texts and tables are read, pictures are recognised, programs are run, archives opened member
 * by member. Each step is in the trace.
 */
export async function matterOf(work: Opener, file: string): Promise<readonly Matter[] | NoMatter> {
  if (contentOfFile(file) !== 'archive') return matterOfOne(work, file);
  const reply = await used(work, 'read_zip', file, 'archive');
  if ('lacking' in reply) return reply;
  const entries = Array.isArray(reply.data?.entries) ? reply.data.entries : [];
  const names = entries.flatMap((entry) =>
    typeof entry === 'object' && entry !== null && 'name' in entry && typeof entry.name === 'string'
      ? [entry.name]
      : [],
  );
  const opened: Matter[] = [];
  let lacking = `${file} is an archive, and nothing in it can be read`;
  for (const name of names.filter((one) => contentOfFile(one) !== 'archive').slice(0, MAX_MEMBERS)) {
    const found = await matterOfOne(work, `${file}/${name}`);
    if ('lacking' in found) lacking = found.lacking;
    else opened.push(...found);
  }
  return opened.length === 0 ? { lacking } : opened;
}

async function matterOfOne(work: Opener, file: string): Promise<readonly Matter[] | NoMatter> {
  const content = contentOfFile(file);
  if (content === 'text' || content === 'table') {
    const reader = readerFor(file);
    const reply = reader === undefined ? { lacking: NAMES.unknown } : await used(work, reader, file, content);
    if ('lacking' in reply) return reply;
    const text = contentOf(reply.text);
    // A table that is not in the form in which our readers show one has no columns to go by.
    if (content === 'table' && rowsIn(text) === undefined) return { lacking: `${file} is a table` };
    return [{ form: content, name: file, text }];
  }
  if (content === 'picture') {
    const reply = await used(work, 'analyze_image', file, content);
    if ('lacking' in reply) return reply;
    const text = typeof reply.data?.text === 'string' ? reply.data.text : '';
    return text === ''
      ? { lacking: `${file} is ${NAMES.picture} without words` }
      : [{ form: 'text', name: file, text }];
  }
  if (content === 'program' && RUNS.test(file)) {
    const reply = await used(work, 'execute_python_file', file, content);
    if ('lacking' in reply) return reply;
    if (reply.data?.status !== 'ok')
      return { lacking: `${file} is ${NAMES.program} that did not run to its end` };
    return [{ form: 'printed', name: file, text: reply.text.trim() }];
  }
  return { lacking: `${file} is ${NAMES[content]}` };
}

async function used(work: Opener, tool: string, file: string, content: FileContent) {
  if (!work.tools.some((partner) => partner.tool === tool))
    return { lacking: `${file} is ${NAMES[content]}` };
  // Each action has its reason before it in the trace (REQ-024).
  work.reasoning(`opens ${file} with ${tool}`);
  const reply = await work.use(tool, { file });
  return 'error' in reply ? { lacking: reply.error.message } : reply;
}
