import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { docsPage, shownRevision } from './docs-page.ts';
import { temporaryFolder } from './testing/cli.ts';

describe('a page of docs/', () => {
  const packageFolder = temporaryFolder();

  test('is written in a checkout', () => {
    expect(docsPage('a.md', { isCheckout: true, packageFolder })).toBe(
      path.join(packageFolder, 'docs', 'a.md'),
    );
  });

  test('is not in an installed package', () => {
    expect(() => docsPage('a.md', { isCheckout: false, packageFolder })).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.stringContaining('docs/a.md') }),
    );
  });

  test('names the revision of the code, or that none is known', async () => {
    expect(await shownRevision(packageFolder)).toBe('unknown');
  });
});
