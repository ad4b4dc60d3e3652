import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import type { DataToolReply } from '../../data-tool.ts';
import { quoteFileName } from '../find-file.ts';
import type { LoadedFile } from '../loaded-file.ts';
import { openZip, type ZipArchive, type ZipMember } from './zip-archive.ts';

/** The entry that stands for every member, one after the other. */
export const ALL_MEMBERS = '*';
/** Maximum names in a list; more do not help a reader. */
const MAX_LISTED = 1000;

export function listZip(file: LoadedFile): DataToolReply {
  const { members } = openZip(file);
  const files = members.filter(({ isFolder }) => !isFolder);
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
  const archive = openZip(file);
  const member = findMember(archive, entry);
  if (member === undefined) {
    const names = archive.members.slice(0, 20).map(({ name }) => quoteFileName(name));
    const more = archive.members.length > names.length ? ', …' : '';
    throw new MeshError(
      'tool',
      `${quoteFileName(file.name)} has no member ${quoteFileName(entry)}: it has ${names.join(', ')}${more}`,
    );
  }
  return { name: `${file.name}/${member.name}`, bytes: archive.read(member) };
}

/**
 * Lists the files of an archive; opening one returns it as a file of its own or throws the reason why it cannot be
 * read.
 */
export function listZipMembers(file: LoadedFile): readonly { name: string; open: () => LoadedFile }[] {
  const archive = openZip(file);
  return archive.members
    .filter(({ isFolder }) => !isFolder)
    .map((member) => ({
      name: member.name,
      open: () => ({ name: `${file.name}/${member.name}`, bytes: archive.read(member) }),
    }));
}

function findMember({ members }: ZipArchive, entry: string): ZipMember | undefined {
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
