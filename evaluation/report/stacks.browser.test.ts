import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import { describe, expect, test } from 'vitest';
import { parseComparison } from '../compare/comparison-file.ts';
import { makeStacksFile } from '../compare/stacks/testing/sample-stacks.ts';
import { buildReportHtml } from './report-html.ts';
import { pageInBrowser } from './testing/page-in-browser.ts';

/** What would run if any of it were taken for markup. */
const HOSTILE =
  '</script><script>globalThis.taken = true</script><img src=x onerror="globalThis.taken = true">';

const share = { ratio: 2, low: 1.9, high: 2.1 };
const sample = {
  ...makeStacksFile([
    { name: 'mesh/json', factor: 1 },
    { name: 'a2a/jsonrpc', factor: 3 },
    { name: HOSTILE, factor: 1.001 },
    { name: 'json/websocket', factor: 2, isOverloaded: true },
  ]),
  warnings: [HOSTILE],
  attributions: [
    {
      ...{ arm: 'a2a/jsonrpc bare', figure: 'time', method: 'exact' },
      total: { ratio: 3, low: 2.9, high: 3.1 },
      shares: [
        { factor: 'protocol', from: 'mesh', to: HOSTILE, verdict: 'contributes', share },
        { factor: 'tls', from: 'off', to: 'on', verdict: 'cannot tell', share: { ...share, ratio: 1.5 } },
      ],
    },
  ],
};
const text = `${JSON.stringify(parseComparison(JSON.stringify(sample), 'sample'), null, 2)}\n`;

const file = path.join(temporaryFolder(), 'stacks.html');
const { opened } = pageInBrowser(file, async () => {
  writeFileSync(file, await buildReportHtml({ comparison: parseComparison(text, 'sample'), runs: [] }));
});

describe('the page of stacks in a browser', () => {
  test('says first what it came to, and has a section with charts for each question', async () => {
    const page = await opened();

    expect(await page.locator('h1').textContent()).toMatch(/a2a\/jsonrpc bare is slower \(\d\.\d\d.times, /);
    expect(await page.locator('nav a').allTextContents()).toEqual([
      'Pairs',
      'Why',
      'Bytes',
      'Latency',
      'Load',
      'CPU, memory',
      'Set-up',
      'Tokens',
      'Disagree',
    ]);
    await expect.poll(() => page.locator('svg.chart').count()).toBe(12);
    expect(await page.locator('pre.command').textContent()).toContain('npm run compare -- --stacks');
    expect(await page.evaluate('globalThis.taken')).toBeUndefined();
    expect(await page.locator('img, #report script').count()).toBe(0);
  });

  test('gives the measured file away as it was written', async () => {
    const page = await opened();

    const saved = page.waitForEvent('download');
    await page.getByRole('link', { name: 'save comparison.json' }).click();
    const download = await saved;

    expect(download.suggestedFilename()).toBe('comparison.json');
    expect(readFileSync(await download.path(), 'utf8')).toBe(text);
  });

  test('switches its figures by keyboard, and prints all of them', async () => {
    const page = await opened();
    const shown = () => page.locator('#pairs figure h3').filter({ visible: true }).allTextContents();
    expect(await shown()).toEqual([expect.stringMatching(/^Time of an exchange/)]);

    await page.getByRole('button', { name: 'CPU time' }).focus();
    await page.keyboard.press('Enter');

    expect(await shown()).toEqual([expect.stringMatching(/^CPU time of an exchange/)]);
    await page.emulateMedia({ media: 'print' });
    expect(await shown()).toHaveLength(3);
  });

  test.each([360, 1280])('is not wider than a screen of %i pixels, whatever is open', async (width) => {
    const page = await opened({ width, scheme: 'dark' });
    for (const summary of await page.locator('summary').filter({ visible: true }).all())
      await summary.click();

    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
  });
});
