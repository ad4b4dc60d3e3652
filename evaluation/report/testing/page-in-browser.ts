import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished } from 'vitest';
import { installedBrowser, startBrowser } from './browser.ts';

interface View {
  readonly width?: number;
  readonly scheme?: 'light' | 'dark';
}

interface PageInBrowser {
  /** The page, opened from disk. Whatever the browser complains about, or asks the network for, fails the test. */
  opened(view?: View): Promise<Page>;
  /** The same without looking at complaints. */
  plain(): Promise<Page>;
}

/**
 * A browser for the tests of one file: the Chromium that is installed. Without one the tests are skipped with a message, and fail where
 * CI=true.
 *
 * @param prepare done once before it starts
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
    browser = await startBrowser(executable);
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
 * A page for the tests of one file.
 *
 * @param write puts the page into `file`; called once
 */
export function pageInBrowser(file: string, write: () => Promise<void>): PageInBrowser {
  const started = browserOfTests(write);
  const url = pathToFileURL(file).href;
  return {
    async opened({ width = 1280, scheme = 'light' } = {}) {
      const context = await started().newContext({ viewport: { width, height: 800 }, colorScheme: scheme });
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('request', (request) => {
        if (request.url() !== url) complaints.push(`request of ${request.url()}`);
      });
      onTestFinished(async () => {
        await context.close();
        expect(complaints).toEqual([]);
      });
      await page.goto(url);
      await page.locator('figure svg.chart').first().waitFor();
      return page;
    },
    async plain() {
      const page = await started().newPage();
      onTestFinished(() => page.close());
      await page.goto(url);
      return page;
    },
  };
}
