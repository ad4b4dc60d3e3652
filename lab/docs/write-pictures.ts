// Takes the pictures of the README from the page of a real run: npm run pictures
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { connectBrowser, shareBrowser } from '@gaia-mesh/evaluation/report/testing/browser.ts';

/** The part of the page that a picture shows, in CSS pixels. */
const SIZE = { width: 1200, height: 745 };

const folder = mkdtempSync(path.join(tmpdir(), 'gaia-mesh-pictures-'));
const command = (...words: string[]) =>
  execFileSync(process.execPath, [path.join(codeFolder, 'scripts', 'gaia-mesh.js'), ...words], {
    cwd: codeFolder,
    env: { ...process.env, INIT_CWD: codeFolder },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
const pictures = path.join(codeFolder, 'docs', 'pictures');
mkdirSync(pictures, { recursive: true });
// The run is the user's first one: its page shows the command as it is typed.
command('bench');
command('report', '--out', path.join(folder, 'run.html'));
// The comparison is the README's, with its budget.
command(
  'compare',
  '--adapters',
  'json,msgpack,a2a',
  '--budget',
  '30',
  '--out',
  path.join(folder, 'compared'),
);
command(
  'report',
  path.join(folder, 'compared', 'comparison.json'),
  '--out',
  path.join(folder, 'comparison.html'),
);
const shared = await shareBrowser();
const browser = await connectBrowser(shared.url);
for (const colorScheme of ['light', 'dark'] as const) {
  const page = await browser.newPage({ viewport: SIZE, colorScheme });
  for (const name of ['run', 'comparison']) {
    await page.goto(pathToFileURL(path.join(folder, `${name}.html`)).href);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.screenshot({ path: path.join(pictures, `${name}-${colorScheme}.png`) });
  }
}
await browser.close();
await shared.close();
rmSync(folder, { recursive: true });
