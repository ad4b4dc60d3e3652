import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { parseComparison } from '../compare/comparison-file.ts';
import { sampleComparison } from '../compare/testing/sample-comparison.ts';
import type { ReportData } from './page-data.ts';
import { buildReportHtml, type ReportSources } from './report-html.ts';
import { sampleRun } from './testing/sample-archive.ts';

/** What could end an element, open one, or be taken for a place of the skeleton. */
const HOSTILE =
  '</script><script>alert(1)</script><!-- STYLE --> POLICY <img src=x onerror=alert(1)>\u2028$& {{x}}';

async function comparisonOf(text?: string) {
  return parseComparison(JSON.stringify(await sampleComparison(['json', 'msgpack', 'anp'], text)), 'sample');
}

/** The data that a page holds. */
function dataOf(html: string): ReportData {
  const text = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(html)?.[1] ?? '';
  return JSON.parse(text);
}

describe('a page', () => {
  test.each<[string, () => Promise<ReportSources>, number, boolean]>([
    ['a comparison alone', async () => ({ comparison: await comparisonOf(), runs: [] }), 0, true],
    ['one run alone', async () => ({ runs: [await sampleRun()] }), 1, false],
    [
      'two runs',
      async () => ({ runs: [await sampleRun(), await sampleRun({ adapter: 'msgpack' })] }),
      2,
      false,
    ],
    ['both', async () => ({ comparison: await comparisonOf(), runs: [await sampleRun()] }), 1, true],
    ['nothing', async () => ({ runs: [] }), 0, false],
  ])('is made of %s', async (_what, sources, runs, hasComparison) => {
    const data = dataOf(await buildReportHtml(await sources()));

    expect(data.runs).toHaveLength(runs);
    expect((data.comparison ?? null) !== null).toBe(hasComparison);
  });

  test('without data has less than 1 MB', async () => {
    const html = await buildReportHtml({ runs: [] });

    expect(Buffer.byteLength(html)).toBeLessThan(1_000_000);
  });

  test('allows its own scripts and styles by their hashes, and nothing else', async () => {
    const html = await buildReportHtml({ runs: [] });
    const policy = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(html)?.[1] ?? '';
    const scripts = [...html.matchAll(/<script(?: type="module")?>(.*?)<\/script>/gs)].map(
      ([, text]) => text ?? '',
    );
    const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

    expect(scripts).toHaveLength(1);
    expect(policy).toMatch(/^default-src 'none'; script-src 'sha256-/);
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    for (const script of scripts) expect(policy).toContain(hashOf(script));
    expect(policy).toContain(hashOf(/<style>(.*?)<\/style>/s.exec(html)?.[1] ?? ''));
  });

  test('with hostile texts has no element more, and says them unchanged', async () => {
    const plain = await buildReportHtml({ comparison: await comparisonOf(), runs: [await sampleRun()] });
    const html = await buildReportHtml({
      comparison: await comparisonOf(HOSTILE),
      runs: [await sampleRun({ text: HOSTILE })],
    });
    const tags = (text: string) => [...text.matchAll(/<\/?[a-z!][^\s>]*/gi)].map(([tag]) => tag);

    expect(tags(html)).toEqual(tags(plain));
    const [, packet] = JSON.parse(dataOf(html).runs[0]?.details ?? '');
    expect(JSON.parse(packet.json)).toMatchObject({ payload: { text: HOSTILE } });
  });
});

test('a page’s own scripts never read texts as markup', async () => {
  const html = await buildReportHtml({ runs: [] });
  const script = /<script type="module">(.*?)<\/script>/s.exec(html)?.[1] ?? '';

  expect(script).not.toMatch(/insertAdjacentHTML|document\.write|DOMParser|\beval\b|new Function/);
  expect(script).not.toMatch(/^(import|export)\b/m);
});
