import { createHash } from 'node:crypto';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { create } from 'tar';
import { describe, expect, test } from 'vitest';
import { ARCHIVE_LIMITS } from '../contracts/limits.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { readArchivedTexts, readRecording } from './read-archive.ts';

const FILES = { 'metrics.json': '{}', '0/agent.log': 'one\n' };

interface Changes {
  /** Contents to pack in place of the files that the manifest names; null leaves a file out. */
  readonly files?: Readonly<Record<string, string | null>>;
  readonly manifest?: object;
  readonly link?: string;
  /** A file that is packed a second time. */
  readonly twice?: string;
  /** True to pack as `tar -C folder .` does. */
  readonly isWholeFolder?: boolean;
}

async function archiveWith({ files = {}, manifest = {}, link, twice, isWholeFolder = false }: Changes = {}) {
  const folder = temporaryFolder();
  const listed = Object.entries(FILES).map(([name, text]) => ({
    path: name,
    bytes: text.length,
    sha256: createHash('sha256').update(text).digest('hex'),
  }));
  const packed: Record<string, string | null> = {
    ...FILES,
    'manifest.json': JSON.stringify({ schema_version: 1, files: listed, omitted: [], ...manifest }),
    ...files,
  };
  const names = Object.keys(packed).filter((name) => packed[name] !== null);
  for (const name of names) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), packed[name] ?? '');
  }
  if (link !== undefined) {
    symlinkSync('/etc/hostname', path.join(folder, link));
    names.push(link);
  }
  if (twice !== undefined) names.push(twice);
  const file = path.join(temporaryFolder(), 'run.tar.gz');
  await create({ gzip: true, file, cwd: folder, portable: true }, isWholeFolder ? ['.'] : names);
  return file;
}

/** Packs entries as they stand, whatever is wrong with them. */
function packRaw(entries: Iterable<{ name: string; type?: string; body?: Buffer }>): Buffer {
  const parts: Buffer[] = [];
  for (const { name, type = '0', body = Buffer.alloc(0) } of entries) {
    const head = Buffer.alloc(512);
    head.write(name);
    head.write('0000644\0', 100);
    head.write(`${body.length.toString(8).padStart(11, '0')}\0`, 124);
    head.write(' '.repeat(8), 148);
    head.write(`${type}\0`, 156);
    head.write('ustar\u000000', 257);
    head.write(
      `${head
        .reduce((sum, byte) => sum + byte, 0)
        .toString(8)
        .padStart(6, '0')}\0 `,
      148,
    );
    parts.push(head, body, Buffer.alloc((512 - (body.length % 512)) % 512));
  }
  return gzipSync(Buffer.concat([...parts, Buffer.alloc(1024)]));
}

function nameAtLength(characters: number): Buffer {
  const record = (length: number) => `${length} path=${'x'.repeat(characters)}\n`;
  const body = Buffer.from(record(record(1000).length));
  return packRaw([{ name: 'head', type: 'x', body }, { name: 'file' }]);
}

const read = async (archive: Promise<string>) =>
  readArchivedTexts(await archive, (name) => name.endsWith('.log'), 100);

test.each([
  [
    'that is no archive but zeros',
    gzipSync(Buffer.alloc(70 * 2 ** 20)),
    'unpacked, it has more than 67108864 bytes',
  ],
  ['that is packed twice', gzipSync(gzipSync('x')), 'it is packed twice'],
  [
    'that is packed twice in another way',
    gzipSync(Buffer.from([0x28, 0xb5, 0x2f, 0xfd])),
    'it is packed twice',
  ],
  [
    'with a name that is too long',
    nameAtLength(ARCHIVE_LIMITS.pathCharacters + 1),
    `a name has more than ${ARCHIVE_LIMITS.pathCharacters} characters`,
  ],
  ['with a long name and no manifest', nameAtLength(ARCHIVE_LIMITS.pathCharacters), 'holds no manifest.json'],
  [
    'with too many files',
    packRaw(Array.from({ length: ARCHIVE_LIMITS.files + 1 }, (_, n) => ({ name: `${n}` }))),
    `it holds more than ${ARCHIVE_LIMITS.files} files`,
  ],
  [
    'with a manifest that is larger than memory',
    packRaw([{ name: 'manifest.json', body: Buffer.alloc(16 * 2 ** 20 + 1) }]),
    'manifest.json has more than 16777216 bytes',
  ],
  ['of random bytes', Buffer.from('no archive at all'), 'is a text: expected'],
])('an archive %s is refused, and unpacked no further', async (_what, bytes, reason) => {
  const file = path.join(temporaryFolder(), 'a.tar.gz');
  writeFileSync(file, bytes);
  await expect(readArchivedTexts(file, () => true, 100)).rejects.toMatchObject({
    code: 'config',
    message: expect.stringContaining(reason),
  });
});

describe('an archive', () => {
  test('is read as its run left it', async () => {
    expect(await read(archiveWith())).toEqual(new Map([['0/agent.log', 'one\n']]));
  });

  test('that was unpacked and packed again is the same', async () => {
    expect(await read(archiveWith({ isWholeFolder: true }))).toEqual(new Map([['0/agent.log', 'one\n']]));
  });

  test.each([
    ['metrics.json', '{\n  "run_id": "x",\n  "pkt_cnt": 5\n}', 'the metrics of a run'],
    ['comparison.json', '{"kind": "adapters", "arms": []}', 'a comparison (report shows it)'],
    ['answers.jsonl', '{"task_id":"a","final_answer":"x"}\n', 'a list of answers (report shows the batch)'],
    ['README.md', '# Gaia Mesh\n', 'a text'],
    ['q.jsonl', '{"task_id":"a","question":"x"}\n', 'a list of questions'],
    ['x.bin', 'a\u0000b', 'no text and no archive'],
    ['empty', '', 'empty'],
  ])('is told from %s, which is named with what was wanted', async (name, text, what) => {
    const file = path.join(temporaryFolder(), name);
    writeFileSync(file, text);
    for (const reading of [readRecording(file), readArchivedTexts(file, () => true, 100)])
      await expect(reading).rejects.toThrow(
        new RegExp(`${name} is ${what.replaceAll(/[()]/g, '.')}.*: expected the run_artifacts`),
      );
  });

  test('with more than a reader has room for is not read', async () => {
    expect(await readArchivedTexts(await archiveWith(), () => true, 3)).toBeNull();
  });

  test.each<[string, Changes, string]>([
    [
      'a file that was edited',
      { files: { '0/agent.log': 'two\n' } },
      '0/agent.log was changed after the run',
    ],
    ['a file left out', { files: { '0/agent.log': null } }, '0/agent.log is missing'],
    ['a file added', { files: { '1/agent.log': 'x' } }, '1/agent.log is not of the run'],
    ['a file twice', { twice: '0/agent.log' }, '0/agent.log comes twice'],
    ['a link', { link: 'secret.log' }, 'secret.log is a link or a device'],
    ['no manifest', { files: { 'manifest.json': null } }, 'holds no manifest.json'],
    ['a manifest that is none', { files: { 'manifest.json': '{' } }, 'manifest.json is not JSON'],
    ['a newer manifest', { manifest: { schema_version: 2 } }, 'of version 2; this program reads version 1'],
    ['a manifest without files', { manifest: { files: 1 } }, 'manifest.json: files'],
  ])('with %s is refused with the reason', async (_what, changes, reason) => {
    await expect(read(archiveWith(changes))).rejects.toMatchObject({
      code: 'config',
      message: expect.stringContaining(reason),
    });
  });
});
