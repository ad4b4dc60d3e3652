import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { browserOfTests, findBarriers } from '@gaia-mesh/evaluation/report/testing/page-in-browser.ts';
import type { Page } from 'playwright-core';
import { expect, onTestFailed, onTestFinished, test } from 'vitest';
import { Cli, temporaryFolder } from '../../testing/cli.ts';

const browser = browserOfTests();

/** What would run if any of it were taken for markup. */
const HOSTILE = '<img src=x onerror="globalThis.taken = true"></script>';

/** A batch of so many questions that is watched, and its page. Complaints of the browser fail the test. */
async function watched(tasks: number, more: readonly string[] = [], width = 1280) {
  const folder = temporaryFolder();
  const lines = Array.from({ length: tasks }, (_, i) => {
    const document = `The keeper of light ${i} was Ada Orn. The tower was built in 18${10 + (i % 80)}. ${HOSTILE}`;
    const question = `Who was the keeper of light ${i}? ${HOSTILE}`;
    return `${JSON.stringify({ task_id: `q-${i}`, question, document, answer: 'Ada Orn' })}\n`;
  });
  writeFileSync(path.join(folder, 'tasks.jsonl'), lines.join(''));
  const context = await browser().newContext({ viewport: { width, height: 800 } });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    if (!/^http:\/\/127\.0\.0\.1:/.test(request.url()) && !request.url().startsWith('data:'))
      complaints.push(request.url());
  });
  onTestFinished(async () => {
    await context.close();
    expect(complaints).toEqual([]);
  });
  // The run would be over before a browser is there that starts after it.
  const cli = new Cli(
    ['bench', '--tasks', 'tasks.jsonl', '--out', 'out', '--port-base', 'auto', '--watch', ...more],
    {
      cwd: folder,
    },
  );
  onTestFailed(() => console.error(cli.stderr, cli.stdout));
  const [, url = ''] = await cli.says(/watch it at (\S+)/);
  await page.goto(url);
  return { cli, page };
}

const heading = (page: Page) => page.getByRole('heading', { level: 1 }).textContent();
const status = (page: Page) => page.getByRole('status').first().textContent();
const region = (page: Page, name: string | RegExp) => page.getByRole('region', { name, exact: true }).first();
const packets = (page: Page) => region(page, 'Packets').locator('tbody tr');

test('follows a run, pauses, opens what is there, and is its report in the end', async () => {
  const { cli, page } = await watched(90, ['--faults', 'delay=60ms±20', '--concurrency', '2']);

  await expect.poll(() => status(page)).toMatch(/^running · \d+ of 90 questions$/);
  await expect.poll(() => packets(page).count()).toBeGreaterThan(5);
  await expect
    .poll(() => region(page, 'Agents').getByText('up', { exact: true }).count())
    .toBeGreaterThanOrEqual(4);
  await expect.poll(() => region(page, 'Questions').textContent()).toContain('right');
  expect(await page.locator('.facts').textContent()).toMatch(/Faultsdelay \d+/);

  await page.getByRole('button', { name: 'Pause' }).click();
  expect(await status(page)).toMatch(/^paused · /);
  await region(page, 'Questions')
    .getByRole('button', { name: /^Who was/ })
    .last()
    .click();
  await expect
    .poll(() => region(page, 'Questions').locator('tr.detail').textContent())
    .toContain('<img src=x');
  const tasks = await packets(page).locator('td:last-child').allTextContents();
  expect(new Set(tasks).size).toBe(1);
  await packets(page).getByRole('button', { name: 'search_docs' }).click();
  await expect.poll(() => region(page, 'Packet search_docs').textContent()).toContain('"payload"');
  await region(page, 'Agents').getByRole('button', { name: '1 extract' }).click();
  await expect.poll(() => region(page, 'Log of 1').textContent()).toContain('"dir":"sent"');
  const paused = await packets(page).first().textContent();

  await page.getByRole('button', { name: 'Follow' }).click();
  await expect.poll(() => packets(page).first().textContent()).toBe(paused);
  // The whole run, which a busy machine takes its time for.
  await expect.poll(() => heading(page), { timeout: 100_000 }).toMatch(/^90 of 90.tasks right/);
  expect(await page.evaluate('globalThis.taken')).toBeUndefined();

  await page.context().close();
  expect(await cli.ended()).toMatchObject({ code: 0 });
});

test('fits a phone while it goes on, and keeps nobody out', async () => {
  const { cli, page } = await watched(20, ['--faults', 'delay=60ms±20', '--concurrency', '2'], 390);

  await expect.poll(() => packets(page).count()).toBeGreaterThan(5);
  await page.getByRole('button', { name: 'Pause' }).click();
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
  expect(await findBarriers(page)).toEqual([]);
  await page.getByRole('button', { name: 'Follow' }).click();
  await expect.poll(() => heading(page), { timeout: 100_000 }).toMatch(/^20 of 20.tasks right/);

  await page.context().close();
  expect(await cli.ended()).toMatchObject({ code: 0 });
});

test('a run that nobody looks at ends as it would without the page', async () => {
  const folder = temporaryFolder();
  const cli = new Cli(['bench', '--team', 'single', '--out', 'out', '--watch'], { cwd: folder });

  expect(await cli.ended()).toMatchObject({ code: 0 });
  expect(cli.stderr).toMatch(/watch it at http:\/\/127\.0\.0\.1:\d+\/[\w-]{32}\/\n/);
});
