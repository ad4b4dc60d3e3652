import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fillPage } from './page-html.ts';
import { buildRunData } from './run/run-data.ts';
import { sampleRun } from './testing/sample-archive.ts';

/** Texts that could end an element, open one, or be taken for a placeholder of the page. */
const HOSTILE =
  '</script><script>alert(1)</script><!-- STYLE --> POLICY <img src=x onerror=alert(1)>\u2028$& {{x}}';

const fill = (title: string) => fillPage({ kind: 'folder', title, items: [], left: [] });

/** Returns the texts of the elements that `element` matches. */
const textsOf = (html: string, element: RegExp) => [...html.matchAll(element)].map(([, text]) => text ?? '');

test('allows its own script and style by their hashes, and nothing else', () => {
  const { html, policy } = fill('a folder');
  const scripts = textsOf(html, /<script>(.*?)<\/script>/gs);
  const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

  expect(html).toContain(`content="${policy}"`);
  expect(scripts).toHaveLength(1);
  expect(policy).toMatch(/^default-src 'none'; script-src 'sha256-/);
  expect(policy).toContain("connect-src 'none'");
  expect(policy).not.toMatch(/unsafe|https?:|\*/);
  for (const text of [...scripts, ...textsOf(html, /<style>(.*?)<\/style>/gs)])
    expect(policy).toContain(hashOf(text));
  // The page's own script never reads texts as markup.
  expect(scripts[0]).not.toMatch(/insertAdjacentHTML|document\.write|DOMParser|\beval\b|new Function/);
  expect(Buffer.byteLength(html)).toBeLessThan(500_000);
});

test('draws a run before the browser has read the contents of its packets', async () => {
  const { html } = fillPage({
    kind: 'run',
    run: buildRunData(await sampleRun({ text: 'said by an agent' })),
  });
  const [data, script, later] = [
    /<script type="application\/json" id="data">/,
    /<script>/,
    /id="later">(.*?)</,
  ].map((mark) => mark.exec(html));

  expect(data?.index).toBeLessThan(script?.index ?? 0);
  expect(script?.index).toBeLessThan(later?.index ?? 0);
  expect(JSON.parse(later?.[1] ?? '')).toHaveLength(3);
});

test('only the page of a running command may ask its server', () => {
  expect(fillPage({ kind: 'live', title: 'bench' }).policy).toContain("connect-src 'self'");
});

test('has no element more with hostile texts, which parse to themselves', () => {
  const { html: plain } = fill('a folder');
  const countTags = (html: string) => html.match(/<\/?[a-z!][^\s>]*/gi)?.length;

  fc.assert(
    fc.property(fc.oneof(fc.constant(HOSTILE), fc.string({ unit: 'binary' })), (title) => {
      const { html } = fill(title);
      const [json = ''] = textsOf(html, /<script type="application\/json" id="data">(.*?)<\/script>/gs);
      expect(countTags(html)).toBe(countTags(plain));
      expect(json).not.toMatch(/[<\u2028\u2029]/);
      expect(JSON.parse(json).title).toBe(title);
    }),
    { numRuns: 25 },
  );
});
