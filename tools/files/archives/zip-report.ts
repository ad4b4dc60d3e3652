import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { DataToolReply } from '../../data-tool.ts';
import { type LoadedFile, quoteFileName } from '../loaded-file.ts';
import { openZip, type ZipMember } from './zip-archive.ts';

/** The entry that stands for every member, one after the other. */
const ALL_MEMBERS = '*';
/** Maximum names in a list; more do not help a reader. */
const MAX_LISTED = 1000;

/** Reads a member as a file of its own. */
type ReadMember = (member: LoadedFile) => Promise<DataToolReply>;

/**
 * Lists an archive, or reads one of its members, or all of them.
 *
 * @throws MeshError `tool` for other files, and for a member that cannot be read
 */
export async function reportZip(
  file: LoadedFile,
  entry: string | undefined,
  read: ReadMember,
): Promise<DataToolReply> {
  if (entry === undefined) return listZip(file);
  return entry === ALL_MEMBERS ? readMembers(file, read) : read(openZipMember(file, entry));
}

function listZip(file: LoadedFile): DataToolReply {
  const files = openZip(file).filter(({ isFolder }) => !isFolder);
  const bytes = files.reduce((sum, { statedBytes }) => sum + statedBytes, 0);
  const lines = files
    .slice(0, MAX_LISTED)
    .map((member) => `${quoteFileName(member.name)} (${describeMember(member).join(', ')})`);
  if (files.length > MAX_LISTED) lines.push(`[and ${files.length - MAX_LISTED} more]`);
  const openable =
    files.length > 1
      ? [
          '',
          `entry "${ALL_MEMBERS}" reads them all; other tools open one by its name: ${quoteFileName(file.name)}/…`,
        ]
      : [];
  const head = `${quoteFileName(file.name)}: ZIP archive, ${file.bytes.length} bytes, ${files.length} files of ${bytes} bytes`;
  return {
    text: [head, '', ...lines, ...openable].join('\n'),
    data: {
      entries: files
        .slice(0, MAX_LISTED)
        .map(({ name, statedBytes }) => ({ name: name.toWellFormed(), bytes: statedBytes })),
    },
  };
}

/**
 * Returns a member as a file of its own, `archive.zip/member`.
 *
 * @throws MeshError `tool` for one that is missing, encrypted, unsafe, an archive itself, or too large
 */
export function openZipMember(file: LoadedFile, entry: string): LoadedFile {
  const members = openZip(file);
  const member = findMember(members, entry);
  if (member === undefined) {
    const names = members.slice(0, 20).map(({ name }) => quoteFileName(name));
    const more = members.length > names.length ? ', …' : '';
    throw new MeshError(
      'tool',
      `${quoteFileName(file.name)} has no member ${quoteFileName(entry)}: it has ${names.join(', ')}${more}`,
    );
  }
  return unpackFile(file, member);
}

function unpackFile(file: LoadedFile, member: ZipMember): LoadedFile {
  return { name: `${file.name}/${member.name}`, bytes: member.read() };
}

/**
 * Maximum characters of all members together, as much of a reply as a model sees, and of one member, enough to
 * recognise it.
 */
const MAX_MEMBERS_CHARACTERS = 22_000;
const MAX_MEMBER_CHARACTERS = 6_000;
/** Maximum members read in one call. */
const MAX_MEMBERS_READ = 200;

/** Returns member after member, and names those that were cut or left out because the limit was reached. */
async function readMembers(file: LoadedFile, read: ReadMember): Promise<DataToolReply> {
  const members = openZip(file).filter(({ isFolder }) => !isFolder);
  const parts: string[] = [];
  const left: string[] = [];
  let room = MAX_MEMBERS_CHARACTERS;
  for (const [at, member] of members.entries()) {
    if (room <= 0 || at >= MAX_MEMBERS_READ) {
      left.push(quoteFileName(member.name));
      continue;
    }
    const text = await readMemberText(() => read(unpackFile(file, member)));
    const most = Math.min(MAX_MEMBER_CHARACTERS, room);
    const cut =
      text.length > most ? `\n[cut: ${text.length - most} more characters; read it by its name]` : '';
    parts.push(text.slice(0, most).toWellFormed() + cut);
    room -= Math.min(text.length, most);
  }
  const rest =
    left.length === 0 ? [] : [`[not read, since the reply is full: ${left.slice(0, 100).join(', ')}]`];
  const head = `${quoteFileName(file.name)}: ZIP archive, ${members.length} files`;
  return { text: [head, ...parts, ...rest].join('\n\n'), data: { read: parts.length, left: left.length } };
}

/** Returns the text of a member, or the reason why it cannot be read, so that the others still are. */
async function readMemberText(read: () => Promise<DataToolReply>): Promise<string> {
  try {
    return (await read()).text;
  } catch (error) {
    if (error instanceof MeshError) return `[${error.message}]`;
    throw error;
  }
}

function findMember(members: readonly ZipMember[], entry: string): ZipMember | undefined {
  const wanted = entry.toLowerCase();
  return (
    members.find(({ name }) => name === entry) ??
    members.find(({ name }) => name.toLowerCase() === wanted) ??
    members.find(({ name }) => name.toLowerCase().endsWith(`/${wanted}`))
  );
}

function describeMember(member: ZipMember): string[] {
  const notes = [`${member.statedBytes} bytes`];
  if (member.isEncrypted) notes.push('encrypted, cannot be read');
  if (!member.isSafe) notes.push('its name leads outside, cannot be read');
  return notes;
}
