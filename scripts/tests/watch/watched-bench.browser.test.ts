import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { browserOfTests } from '@gaia-mesh/evaluation/report/testing/page-in-browser.ts';
import type { Page } from 'playwright-core';
import { expect, onTestFailed, onTestFinished, test } from 'vitest';
import { Cli, temporaryFolder } from '../../testing/cli.ts';

const browser = browserOfTests();

/** What would run if any of it were taken for markup. */
const HOSTILE = '<img src=x onerror="globalThis.taken = true"></script>';

/** A batch of so many questions that is watched, and its page. Complaints of the browser fail the test. */
async function watched(tasks: number, more: readonly string[] = [], hash = '', width = 1280) {
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
  await page.goto(`${url}${hash}`);
  return { cli, page, url, folder };
}

const status = (page: Page) => page.locator('.lede').first().textContent();
const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true }).first();
const packets = (page: Page) => region(page, 'Packets').locator('tbody tr');
const facts = (page: Page) => page.locator('.facts').first().textContent();
const reported = (page: Page) => region(page, 'Report').getByRole('heading').count();

test('follows a run, pauses, filters, opens what is there, and is its report in the end', async () => {
  const { cli, page } = await watched(90, ['--faults', 'delay=60ms±20', '--concurrency', '2']);

  await expect.poll(() => status(page)).toMatch(/^running · \d+ of 90 questions$/);
  await expect.poll(() => packets(page).count()).toBeGreaterThan(5);
  await expect
    .poll(() => region(page, 'Agents').getByText('up', { exact: true }).count())
    .toBeGreaterThanOrEqual(4);
  await expect.poll(() => region(page, 'Questions').textContent()).toContain('right');
  expect(await facts(page)).toMatch(/Faultsdelay \d+/);

  await page.keyboard.press('p');
  const paused = await packets(page).first().textContent();
  const moment = await page.locator('.moment').textContent();
  // The whole run, which a busy machine takes its time for.
  await expect.poll(() => status(page), { timeout: 100_000 }).toBe('answered · 90 of 90 questions');
  expect(await packets(page).first().textContent()).toBe(paused);
  expect(await page.locator('.moment').textContent()).toBe(moment);
  expect(await page.getByRole('link', { name: 'link to this moment' }).getAttribute('href')).toMatch(
    /^#at=\d/,
  );

  await region(page, 'Questions').getByRole('button', { name: /^q-/ }).last().click();
  const opened = region(page, 'Opened');
  expect(await opened.getByRole('heading').textContent()).toMatch(/^Question q-\d+$/);
  await expect.poll(() => opened.textContent()).toContain('<img src=x');
  const questions = await packets(page).locator('td:last-child').allTextContents();
  expect(new Set(questions).size).toBe(1);

  await packets(page).getByRole('button').first().click();
  await expect.poll(() => opened.textContent()).toContain('"payload"');
  await page.keyboard.press('Escape');
  await expect.poll(() => opened.count()).toBe(0);

  await page.getByRole('button', { name: 'Clear' }).click();
  await page.getByRole('button', { name: 'Log of 1' }).click();
  await expect.poll(() => opened.textContent()).toContain('"dir":"sent"');
  await page.getByRole('button', { name: 'To the end' }).click();
  await expect.poll(() => facts(page)).toContain('Answered90 of 90');
  await expect.poll(() => reported(page)).toBeGreaterThan(4);
  expect(await page.evaluate('globalThis.taken')).toBeUndefined();

  await page.context().close();
  expect(await cli.ended()).toMatchObject({ code: 0 });
});

test('fits a phone, and opens at the moment and with the filters of a link', async () => {
  const { cli, page, url } = await watched(
    20,
    ['--faults', 'delay=60ms±20', '--concurrency', '2'],
    '#at=1&agent=1&text=nothing',
    390,
  );

  await expect.poll(() => status(page)).toBe('answered · 20 of 20 questions');
  await expect.poll(() => reported(page)).toBeGreaterThan(4);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
  expect(await page.locator('.moment').textContent()).toBe('0:00.001');
  expect(await page.getByLabel('Text').inputValue()).toBe('nothing');
  expect(await page.getByText('No packet passes the filters.').count()).toBe(1);

  await page.goto(`${url}#agent=1`);
  await expect.poll(() => packets(page).count()).toBeGreaterThan(0);
  for (const from of await packets(page).locator('td:nth-of-type(2)').allTextContents())
    expect(from).toBe('1 extract');

  await page.context().close();
  expect(await cli.ended()).toMatchObject({ code: 0 });
});

test('a run that nobody looks at ends as it would without the page', async () => {
  const folder = temporaryFolder();
  const cli = new Cli(['bench', '--team', 'single', '--out', 'out', '--watch'], { cwd: folder });

  expect(await cli.ended()).toMatchObject({ code: 0 });
  expect(cli.stderr).toMatch(/watch it at http:\/\/127\.0\.0\.1:\d+\/[\w-]{32}\/\n/);
});
