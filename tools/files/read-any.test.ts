import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { hasNamespaces } from '@gaia-mesh/core/system/process/without-network.ts';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { readAnyText } from './read-confined.ts';
import { docxOf, docxParagraph, pdfOf, pdfText, pptxOf, shapeOf, zipOf } from './testing/documents.ts';
import { taskPlace } from './testing/task-place.ts';

const idle = new AbortController().signal;

test.each([
  ['a.txt', async () => Buffer.from('plain text'), 'plain text'],
  ['a.unknown', async () => Buffer.from('plain text'), 'plain text'],
  ['a.CSV', async () => Buffer.from('a,b\n1,2\n'), '| 2 | 1 | 2 |'],
  ['a.pdf', async () => pdfOf([pdfText(['a page'])]), 'a page'],
  ['a.docx', () => docxOf(docxParagraph('a letter')), 'a letter'],
  ['a.pptx', () => pptxOf([{ shapes: shapeOf(['a slide']) }]), 'a slide'],
  ['a.zip', () => zipOf({ 'inner.txt': 'x' }), 'inner.txt (1 bytes)'],
])('gives the text of %s (REQ-044, SV-14)', async (name, bytes, expected) => {
  const { files } = taskPlace({ [name]: await bytes() });
  expect(await readAnyText(path.join(files, name), idle)).toContain(expected);
});

test('gives the text alone: who counts its lines must not count one about the file', async () => {
  const { files } = taskPlace({
    'a.txt': 'one\n\ntwo\n',
    'a.docx': await docxOf(docxParagraph('a letter')),
    'empty.txt': '',
  });
  const text = (name: string) => readAnyText(path.join(files, name), idle);
  expect(await text('a.txt')).toBe('one\n\ntwo\n');
  expect(await text('a.docx')).toBe('a letter');
  expect(await text('empty.txt')).toBe('');
});

test('pictures and recordings are left to their tools (SV-14)', async () => {
  const { files } = taskPlace({ 'a.png': 'x', 'a.mp3': 'x' });
  await expect(readAnyText(path.join(files, 'a.png'), idle)).rejects.toThrow(
    'a.png holds no text: use analyze_image',
  );
  await expect(readAnyText(path.join(files, 'a.mp3'), idle)).rejects.toThrow('understand_audio');
});

test('an unreadable one, too (REQ-052)', async () => {
  const { files } = taskPlace({ 'a.bin': Uint8Array.from([0, 1, 2]) });
  await expect(readAnyText(path.join(files, 'a.bin'), idle)).rejects.toThrow(
    'a.bin holds bytes that are not text',
  );
  await expect(readAnyText(files, idle)).rejects.toMatchObject({ code: 'tool' });
});

describe.skipIf(process.platform !== 'linux')('a document is read by a process', () => {
  /** Reads a large PDF, and passes the id of the process that reads it to `look` meanwhile. */
  async function readWhile(look: (pid: number) => void): Promise<string> {
    const page = pdfText(Array.from({ length: 30 }, (_, line) => `line ${line} of a page`));
    const { files } = taskPlace({ 'a.pdf': pdfOf(Array<string>(300).fill(page)) });
    const before = new Set(children());
    const text = readAnyText(path.join(files, 'a.pdf'), idle);
    // The caller handles a failure later; until then, it must not count as unhandled.
    text.catch(() => undefined);
    const reader = await vi.waitFor(() => {
      const pid = children().find((child) => !before.has(child) && commandOf(child).includes('--permission'));
      if (pid === undefined) throw new Error('no reader yet');
      return pid;
    });
    look(reader);
    return text;
  }

  const children = () =>
    readdirSync('/proc/self/task').flatMap((task) =>
      readFileSync(`/proc/self/task/${task}/children`, 'utf8').trim().split(' ').map(Number),
    );
  const commandOf = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');

  test('with none of the caller’s keys, files or connections', async () => {
    vi.stubEnv('OPENAI_API_KEY', 'canary-key');
    onTestFinished(() => void vi.unstubAllEnvs());

    const text = await readWhile((pid) => {
      expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toContain('canary');
      expect(commandOf(pid).filter((option) => option.startsWith('--allow'))).toEqual(
        commandOf(pid).filter((option) =>
          /^--allow-fs-read=(.+((config|core|dist|evaluation|protocols|scripts|tools|node_modules)\/|\/package\.json)|\/proc\/self\/status)$/.test(
            option,
          ),
        ),
      );
      if (hasNamespaces()) {
        expect(readlinkSync(`/proc/${pid}/ns/net`)).not.toBe(readlinkSync('/proc/self/ns/net'));
      }
    });

    expect(text).toContain('line 9 of a page');
  });

  test('whose death is one document that was not read', async () => {
    await expect(readWhile((pid) => process.kill(pid, 'SIGKILL'))).rejects.toMatchObject({
      code: 'tool',
      message: expect.stringMatching(/a\.pdf.* was not read: its process ended with SIGKILL/),
    });
  });
});
