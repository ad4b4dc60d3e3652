import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { type Browser, type BrowserServer, chromium } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

declare module 'vitest' {
  interface ProvidedContext {
    /** Address that starts the browser of all tests and answers with its own. */
    readonly browserUrl: string;
  }
}

/** The Chromium that is installed, or undefined. */
export function installedBrowser(): string | undefined {
  const folders = (process.env.PATH ?? '').split(path.delimiter);
  return NAMES.flatMap((name) => folders.map((folder) => path.join(folder, name))).find((file) =>
    existsSync(file),
  );
}

/** Serves one browser to all test files; it starts when the first file asks for it. */
export async function shareBrowser(): Promise<{ readonly url: string; close(): Promise<void> }> {
  let started: Promise<BrowserServer> | undefined;
  const server = createServer((_request, response) => {
    started ??= launch();
    started.then(
      (browser) => response.end(browser.wsEndpoint()),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // The server must not keep the test process alive.
  server.unref();
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    async close() {
      server.close();
      await (await started?.catch(() => undefined))?.close();
    },
  };
}

async function launch(): Promise<BrowserServer> {
  const executablePath = installedBrowser();
  if (executablePath === undefined) throw new Error('there is no browser');
  // Chromium's own sandbox does not work for root.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launchServer({ executablePath, args, host: '127.0.0.1' });
}

export async function connectBrowser(url: string): Promise<Browser> {
  const response = await fetch(url);
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return chromium.connect(text);
}
