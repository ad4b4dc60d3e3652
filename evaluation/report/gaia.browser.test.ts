import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { buildReportHtml } from './report-html.ts';
import { pageInBrowser } from './testing/page-in-browser.ts';
import { sampleSource } from './testing/sample-batch.ts';

/** What would run if any of it were taken for markup. */
const HOSTILE =
  '</script><script>globalThis.taken = true</script><img src=x onerror="globalThis.taken = true">\u2028 é';
const TEAMS = ['single', 'pipeline', 'supervisor', 'react', 'overseer', 'panel'];

const wrong = { correct: false, correct_lenient: false, final_answer: 'another' } as const;

const file = path.join(temporaryFolder(), 'report.html');
const { opened } = pageInBrowser(file, async () => {
  const gaia = sampleSource({
    teams: TEAMS,
    questions: 240,
    repeat: 2,
    text: HOSTILE,
    result: ({ team, index, cycle }) => {
      const place = TEAMS.indexOf(team);
      const took = { bytes: 1000 * (place + 1), cached: cycle === 1 && index === 3 };
      if (index % 10 < place) return { ...took, gap: undefined };
      if (index === 21)
        return { ...took, ...wrong, status: 'timeout', reason: HOSTILE, failed_role: HOSTILE };
      return {
        ...took,
        ...wrong,
        ...(index % 5 === 4 ? { status: 'failed', reason: 'no' } : {}),
        gap: 'other',
      };
    },
  });
  writeFileSync(file, await buildReportHtml({ runs: [], gaia }));
});

const rows = (page: Page): Locator => page.locator('#questions button.question-row');
const status = (page: Page) => page.locator('#questions [role=status]').textContent();

describe('the page of a batch in a browser', () => {
  test('has the baseline marked, verdicts against it, and its charts', async () => {
    const page = await opened();

    expect(await page.locator('h1').textContent()).toMatch(
      /^panel is right on 120.of 240.questions, single alone on 0$/,
    );
    const table = page.locator('#teams table').first();
    expect(await table.locator('tbody th').allTextContents()).toEqual([
      'single (baseline)',
      ...TEAMS.slice(1),
    ]);
    expect(await table.locator('td:last-child').allTextContents()).toEqual([
      'baseline',
      ...TEAMS.slice(1).map(() => 'better'),
    ]);
    expect(await page.locator('nav a').allTextContents()).toEqual([
      'Teams',
      'Questions',
      'Cycles',
      'Failures and tools',
    ]);
    expect(await page.locator('svg.chart').count()).toBe(2);
    expect(await page.locator('#cycles svg.chart circle').count()).toBeGreaterThan(11);
  });

  test('shows what hostile texts say, and does nothing of it', async () => {
    const page = await opened();
    await rows(page).nth(21).click();

    expect(await page.evaluate('globalThis.taken')).toBeUndefined();
    expect(await page.locator('img, iframe, #report script').count()).toBe(0);
    expect(await page.locator('#questions .detail').textContent()).toContain('<img src=x onerror=');
    expect(await page.locator('#work').textContent()).toContain('role: </script><script>');
  });

  test('opens a question by a click on a team’s mark, with that team’s reasoning and tool calls', async () => {
    const page = await opened();
    const row = rows(page).nth(2);
    const detail = page.locator('#questions .detail');

    await row.locator('.mark').nth(3).click();

    expect(await row.getAttribute('aria-expanded')).toBe('true');
    expect(await detail.locator('.asked-in-full').textContent()).toBe(`What is 2? ${HOSTILE}`);
    expect(await detail.locator('.truth').textContent()).toBe(`True answer: 2${HOSTILE}`);
    expect(await detail.locator('h4').allTextContents()).toEqual([
      '✗ single wrong',
      '✗ pipeline wrong',
      '✗ supervisor wrong',
      '✓ react right',
      '✓ overseer right',
      '✓ panel right',
    ]);
    expect(await detail.locator('details[open] summary').allTextContents()).toEqual([
      'Reasoning and tool calls of react: 2 steps',
    ]);
    expect(await detail.locator('details[open] .tool-step').textContent()).toBe(
      `2. react: calculator({"expression":"2"}) → 2${HOSTILE}`,
    );
    expect(await detail.locator('.attempt').nth(3).textContent()).toContain('tools: calculator');

    await row.locator('.mark').nth(0).click();
    expect(await detail.locator('details[open] summary').allTextContents()).toEqual([
      'Reasoning and tool calls of single: 2 steps',
    ]);

    await row.locator('.mark').nth(0).click();
    expect(await detail.count()).toBe(0);
    expect(await row.getAttribute('aria-expanded')).toBe('false');
  });

  test('is read out and opened by the keyboard alone', async () => {
    const page = await opened();
    const row = rows(page).nth(21);
    await row.focus();

    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');

    expect(await row.getAttribute('aria-label')).toMatch(
      /^What is 21\?[\s\S]*\(level 2 · table.*: single out of time, pipeline out of time, supervisor right, react right, overseer right, panel right$/,
    );
    expect(await page.locator('#questions .attempt details[open] summary').textContent()).toBe(
      'Reasoning and tool calls of single: 2 steps',
    );
  });

  test('marks answers from the cache, and draws a hundred questions at a time', async () => {
    const page = await opened();
    expect(await rows(page).nth(3).locator('.mark sup').count()).toBe(6);
    expect(await rows(page).nth(4).locator('.mark sup').count()).toBe(0);
    expect([await rows(page).count(), await status(page)]).toEqual([100, '240 questions']);

    await page.getByRole('button', { name: 'Show 100 more' }).click();

    expect(await rows(page).count()).toBe(200);
    expect(
      await page.evaluate('document.activeElement === document.querySelectorAll(".question-row")[100]'),
    ).toBe(true);
  });

  test('finds questions by what became of them, by their words, and by cycle', async () => {
    const page = await opened();

    await page.getByRole('combobox', { name: 'Show' }).selectOption('nobody is right');
    expect([await rows(page).count(), await status(page)]).toEqual([100, '120 of 240 questions']);
    await page.getByRole('combobox', { name: 'Show' }).selectOption('from a cache');
    expect(await status(page)).toBe('1 of 240 questions');
    await page.getByRole('combobox', { name: 'Cycle' }).selectOption('2');
    expect(await status(page)).toBe('0 of 240 questions');
    await page.getByRole('combobox', { name: 'Show' }).selectOption('all questions');
    await page.getByLabel('Find').fill('IS 123? level');

    expect(await status(page)).toBe('1 of 240 questions');
  });

  test('switches what a right answer takes, and levels for kinds', async () => {
    const page = await opened();
    const chart = page.locator('#teams svg.chart');
    expect(await chart.getAttribute('aria-label')).toBe('Accuracy against bytes for a right answer');

    await page.getByRole('button', { name: 'seconds' }).click();
    await page.getByRole('button', { name: 'kinds' }).click();

    expect(await chart.getAttribute('aria-label')).toBe('Accuracy against seconds for a right answer');
    expect(await page.locator('.groups tbody th').first().textContent()).toMatch(/^table/);
    expect(await page.locator('.groups tbody td[class^=shade-]').count()).toBe(12);
  });

  test.each([360, 1280])('is not wider than a screen of %i pixels, whatever is open', async (width) => {
    const page = await opened({ width });
    await rows(page).nth(0).click();
    await rows(page).nth(3).locator('.mark').nth(2).click();
    for (const summary of await page.locator('summary').all()) await summary.click();

    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    // Each mark below its team's name.
    const middles = async (selector: string) =>
      page.evaluate(
        `[...document.querySelectorAll('${selector}')].slice(0, 6).map((e) => { const r = e.getBoundingClientRect(); return Math.round((r.left + r.right) / 2); })`,
      );
    expect(await middles('.question-row .mark')).toEqual(await middles('.grid-head span:not(:first-child)'));
  });

  test.each(['light', 'dark'] as const)(
    'has marks that can be seen where the screen is %s',
    async (scheme) => {
      const page = await opened({ scheme });

      const colours = await page.evaluate(
        `['.mark.right', '.mark.wrong', '.mark.failed'].map((mark) => getComputedStyle(document.querySelector(mark)).color)`,
      );
      const paper = await page.evaluate('getComputedStyle(document.body).backgroundColor');
      expect(new Set([paper, ...(Array.isArray(colours) ? colours : [])]).size).toBe(4);
    },
  );
});
