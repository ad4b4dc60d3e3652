import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { codeFolder as root } from '@gaia-mesh/core/system/package-root.ts';
import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { formatRevision, listMeasuredPages, markAge, resolvePage, writeMeasured } from './docs-page.ts';

const part = { facts: 'four agents', body: '| a |', limits: ['Loopback is not a network.'] };

describe('a page with a measured part', () => {
  const codeFolder = temporaryFolder();
  const file = path.join(codeFolder, 'a.md');
  writeFileSync(
    file,
    '# A\n\n<!-- measured: npm run a -- --write -->\nold\n<!-- end of what was measured -->\n\nB\n',
  );
  writeFileSync(path.join(codeFolder, 'plain.md'), '# A\n');

  test('is written in a checkout, and only between its markers', async () => {
    const { argv } = process;
    process.argv = ['node', 'mesh', 'a', '--write'];
    onTestFinished(() => {
      process.argv = argv;
    });
    await writeMeasured(resolvePage('a.md', { isCheckout: true, codeFolder }), part);
    await writeMeasured(file, part);

    const text = readFileSync(file, 'utf8');
    expect(text).toMatch(
      /^# A\n\n<!-- measured: npm run a -- --write -->\nWritten by `npm run a -- --write`/,
    );
    expect(text).toMatch(/^- \d+ cores .*Node v\d.*\n- Gaia Mesh .*, revision .*; four agents\n\n\| a \|\n/m);
    expect(text).toContain('## What these numbers cannot tell\n\n- Loopback is not a network.\n<!-- end');
    expect(text).toMatch(/ of what was measured -->\n\nB\n$/);
    expect(text).not.toContain('old');
  });

  test('is not in an installed package', () => {
    expect(() => resolvePage('docs/a.md', { isCheckout: false, codeFolder })).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.stringContaining('docs/a.md') }),
    );
  });

  test('is refused without its markers, before anything is measured', () => {
    expect(() => resolvePage('plain.md', { isCheckout: true, codeFolder })).toThrow(
      expect.objectContaining({ code: 'io', message: expect.stringContaining('<!-- measured') }),
    );
  });

  test('names the revision of the code, or that none is known', async () => {
    expect(await formatRevision(codeFolder)).toBe('unknown');
  });

  test.each(listMeasuredPages())('is %s, and it says what its numbers cannot tell', (name) => {
    expect(readFileSync(resolvePage(name), 'utf8')).toContain('## What these numbers cannot tell\n');
  });

  test.each(listMeasuredPages())(
    'is %s, which says at its top if its subject has changed since: npm run docs',
    (name, { subject }) => {
      const text = readFileSync(resolvePage(name), 'utf8');
      expect(text).toBe(markAge(name, text, subject));
    },
  );

  test('is on the list of those that npm run results measures again', () => {
    const found = ['docs', 'docs/results'].flatMap((folder) =>
      readdirSync(path.join(root, folder))
        .filter((name) => name.endsWith('.md'))
        .map((name) => `${folder}/${name}`),
    );
    const measured = found.filter((name) =>
      readFileSync(path.join(root, name), 'utf8').includes('\n<!-- measured: '),
    );
    expect(
      listMeasuredPages()
        .map(([name]) => name)
        .sort(),
    ).toEqual(measured.sort());
  });

  test('has one mark below its title as long as its subject has another state', () => {
    const old = markAge('docs/a.md', '# A\n\nText.\n', ['LICENSE']);
    expect(old).toBe(
      '# A\n\n> **Older than its subject.** What this page measures has changed since; `npm run results -- --only a` measures it again.\n\nText.\n',
    );
    expect(markAge('docs/a.md', old, ['LICENSE'])).toBe(old);
  });
});
