import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { parseComparison } from '../compare/comparison-file.ts';
import { sampleComparison } from '../compare/testing/sample-comparison.ts';
import { buildReportHtml } from './report-html.ts';
import { pageInBrowser } from './testing/page-in-browser.ts';
import { sampleRun } from './testing/sample-archive.ts';

/** What would run if any of it were taken for markup. */
const HOSTILE =
  '</script><script>globalThis.taken = true</script><!-- <img src=x onerror="globalThis.taken = true">\u2028 é';

const file = path.join(temporaryFolder(), 'report.html');
const { opened, plain } = pageInBrowser(file, async () => {
  const adapters = ['json', 'msgpack', 'a2a', 'anp'];
  const matrix = [4, 64].flatMap((agents) =>
    adapters.map((adapter) => ({
      ...{ team: HOSTILE, engine: 'extractive', agents, adapter, time_ratio: 1, time_verdict: HOSTILE },
      ...{ bytes_per_task: 900 * agents, ms_per_task: agents },
    })),
  );
  const kept: { arms: object[] } = JSON.parse(JSON.stringify(await sampleComparison(adapters, HOSTILE)));
  const by_part = ['chatty', HOSTILE].map((name) => ({ name, packets: 5, payload: 900, wire: 1000 }));
  const by_size = ['to 1 kB', 'more'].map((name) => ({ name, packets: 5, payload: 900, wire: 1200 }));
  const sample = {
    ...kept,
    arms: kept.arms.map((row) => ({ ...row, by_part, by_size })),
    command: 'npm run compare -- --adapters json,msgpack,a2a,anp',
    matrix,
  };
  const comparison = parseComparison(JSON.stringify(sample), 'sample');
  const runs = [
    await sampleRun({ text: HOSTILE, tasks: 6 }),
    await sampleRun({ adapter: 'msgpack+zstd+ed25519' }),
  ];
  writeFileSync(file, await buildReportHtml({ comparison, runs }));
});

const run = (page: Page, number: number): Locator => page.locator(`#run-${number}`);

describe('the page in a browser', () => {
  test('says first what the comparison came to, and draws a chart for each finding', async () => {
    const page = await opened();

    expect(await page.locator('h1').textContent()).toContain('anp is slower than json.');
    expect(await page.locator('#comparison h3').allTextContents()).toEqual([
      expect.stringMatching(/^anp needs .* the bytes of json, msgpack/),
      'Task time against json. cannot tell: msgpack; slower: a2a, anp',
      expect.stringMatching(/^All tasks take 5\.00.ms with json/),
      'Bytes by kind of traffic and by size',
      expect.stringMatching(
        /^64.agents instead of 4: 16\.0× the bytes and 16\.0× the time of a task \(json\)$/,
      ),
      expect.stringMatching(
        /^From one fresh set of processes to the next, medians of one arm are up to 1\.53× apart$/,
      ),
      'How to disagree',
    ]);
    expect(await page.locator('#comparison svg.chart').count()).toBe(5);
    expect(await page.locator('#comparison pre.command').textContent()).toContain('--adapters json,msgpack');
    expect(await page.locator('#comparison tbody').first().locator('tr').count()).toBe(4);
    expect(await run(page, 1).locator('svg.chart').count()).toBe(4);
  });

  test('gives the comparison away as it was written, samples and all', async () => {
    const page = await opened();

    const saved = page.waitForEvent('download');
    await page.getByRole('link', { name: 'save comparison.json' }).click();
    const download = await saved;

    expect(download.suggestedFilename()).toBe('comparison.json');
    const text = readFileSync(await download.path(), 'utf8');
    expect(parseComparison(text, 'saved').arms[0]?.samples_us.time).toHaveLength(10);
  });

  test('shows what hostile texts say, and does nothing of it', async () => {
    const page = await opened();

    expect(await page.evaluate('globalThis.taken')).toBeUndefined();
    expect(await page.locator('img, iframe, #report script').count()).toBe(0);
    expect(await run(page, 1).locator('.question').textContent()).toContain('<img src=x onerror=');
  });

  test('opens a packet by a click, decoded and as bytes, and closes it again', async () => {
    const page = await opened();
    const packets = run(page, 1).locator('button.packet');
    expect(await packets.count()).toBe(3);

    await packets.nth(1).click();

    expect(await packets.nth(1).getAttribute('aria-expanded')).toBe('true');
    const decoded = JSON.parse((await run(page, 1).locator('pre.json').textContent()) ?? '');
    expect(decoded).toMatchObject({ from: '0', payload: { text: HOSTILE, step: 0 } });
    const hex = await run(page, 1).locator('pre.hex').textContent();
    expect(hex).toMatch(
      /^0000 {2}7b 22 74 79 70 65 22 3a 22 3c 2f 73 63 72 69 70 {2}\{"type":"<\/scrip\n0010 {2}/,
    );

    await packets.nth(1).click();

    expect(await run(page, 1).locator('pre').count()).toBe(0);
  });

  test('opens a packet by the Enter key, and says what is below layers with keys', async () => {
    const page = await opened();
    await run(page, 2).locator('button.packet').last().focus();

    await page.keyboard.press('Enter');

    expect(await run(page, 2).locator('pre.json').textContent()).toContain('"answer": "hello"');
    expect(await run(page, 2).locator('h4').allTextContents()).toContainEqual(
      expect.stringMatching(/bytes of msgpack\+zstd$/),
    );
    expect(await run(page, 2).locator('figcaption').first().textContent()).toContain(
      'ed25519 around these bytes',
    );
  });

  test('shows another task', async () => {
    const page = await opened();
    const chooser = run(page, 1).getByLabel('Task');

    await chooser.selectOption({ index: 4 });
    await run(page, 1).locator('button.packet').first().click();

    expect(await run(page, 1).locator('pre.json').textContent()).toContain('"task_id": "t-4"');
  });

  test('switches what its charts count', async () => {
    const page = await opened();
    const map = run(page, 1).locator('figure').last();
    const texts = async () => (await map.locator('svg.chart text').allTextContents()).join(' ');
    expect(await texts()).toMatch(/\d,\d{3}/);

    await map.getByRole('button', { name: 'packets' }).click();

    expect(await texts()).not.toMatch(/\d,\d{3}/);
    expect(await map.getByRole('button', { name: 'packets' }).getAttribute('aria-pressed')).toBe('true');
    const bytes = page.locator('#comparison figure').first();
    await bytes.getByRole('button', { name: 'beyond the payload' }).click();
    expect(await bytes.locator('svg.chart').getAttribute('aria-label')).toBe(
      'Bytes beyond the payload, by part',
    );
  });

  test.each([360, 600, 1280])('is not wider than a screen of %i pixels, whatever is open', async (width) => {
    const page = await opened({ width });
    for (const packet of await page.locator('button.packet').all()) await packet.click();
    for (const summary of await page.locator('summary').all()) await summary.click();

    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    const wide = await page.evaluate(
      '[...document.querySelectorAll("svg.chart")].filter((svg) => svg.getBoundingClientRect().right > innerWidth).length',
    );
    expect(wide).toBe(0);
  });

  test.each([
    ['light', /^rgb\(2\d\d, 2\d\d, 2\d\d\)$/],
    ['dark', /^rgb\(\d\d, \d\d, \d\d\)$/],
  ] as const)('is %s where the reader’s screen is', async (scheme, colour) => {
    const page = await opened({ scheme });
    const paint = (property: string) => page.evaluate(`getComputedStyle(document.body).${property}`);

    expect(await paint('backgroundColor')).toMatch(colour);
    expect(await paint('color')).not.toBe(await paint('backgroundColor'));
  });

  test('has a policy under which no other script runs and nothing is fetched', async () => {
    const page = await plain();

    await page.evaluate(`{
      globalThis.refused = [];
      document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => refused.push(effectiveDirective));
      const script = document.createElement('script');
      script.textContent = 'globalThis.injected = true';
      const image = document.createElement('img');
      image.src = 'http://127.0.0.1:9/image';
      document.body.append(script, image);
      document.body.setAttribute('style', 'color: red');
    }`);
    await page.evaluate(`fetch('http://127.0.0.1:9/').catch(() => undefined)`);

    expect(await page.evaluate('globalThis.injected')).toBeUndefined();
    await expect
      .poll(() => page.evaluate('refused.toSorted().join()'))
      .toBe('connect-src,img-src,script-src-elem,style-src-attr');
  });
});
