import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, inject, onTestFinished } from 'vitest';
import { connectBrowser, installedBrowser } from './browser.ts';

interface View {
  readonly width?: number;
  readonly scheme?: 'light' | 'dark';
}

/**
 * Returns a function that gives the tests of one file the installed Chromium. Without one, the tests are skipped with a message, or
 * fail if CI=true.
 *
 * @param prepare runs once before the tests connect to the browser
 */
export function browserOfTests(prepare: () => Promise<void> = async () => undefined): () => Browser {
  const executable = installedBrowser();
  let browser: Browser | undefined;
  beforeAll(async () => {
    if (executable === undefined) {
      const message = 'no chromium, chromium-browser or google-chrome on the search path';
      if (process.env.CI === 'true') throw new Error(message);
      console.warn(`skipped: ${message}`);
      return;
    }
    await prepare();
    browser = await connectBrowser(inject('browserUrl'));
  });
  beforeEach((context) => {
    if (executable === undefined) context.skip('there is no browser');
  });
  afterAll(async () => {
    await browser?.close();
  });
  return () => {
    if (browser === undefined) throw new Error('there is no browser');
    return browser;
  };
}

/**
 * Opens a page that was written to a file. The test fails if the browser reports an error or requests anything else.
 */
export async function openFile(browser: Browser, file: string, view: View = {}): Promise<Page> {
  const { width = 1280, scheme = 'light' } = view;
  const url = pathToFileURL(file).href;
  const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme: scheme });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    if (request.url() !== url && !/^(data|blob):/.test(request.url()))
      complaints.push(`request of ${request.url()}`);
  });
  onTestFinished(async () => {
    await context.close();
    expect(complaints).toEqual([]);
  });
  await page.goto(url);
  await page.getByRole('heading', { level: 1 }).waitFor();
  return page;
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Lists the serious and critical violations of accessibility that axe finds on the page. */
export async function findBarriers(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const found: { impact: string; id: string; nodes: { html: string }[] }[] = await page.evaluate(
    'axe.run().then(({ violations }) => violations)',
  );
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 120)}`);
}
