import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { browserOfTests } from '@gaia-mesh/evaluation/report/testing/page-in-browser.ts';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { Cli, runCli, temporaryFolder } from '../../testing/cli.ts';

/** What would run if any of it were taken for markup. */
const HOSTILE = '<img src=x onerror="globalThis.taken = true">';

const folder = temporaryFolder();
const browser = browserOfTests();

beforeAll(async () => {
  const lines = [0, 1, 2].map((i) => {
    const document = `The keeper of light ${i} was Ada Orn. ${HOSTILE}`;
    return JSON.stringify({
      task_id: `q-${i}`,
      question: `Who kept light ${i}?`,
      document,
      answer: 'Ada Orn',
    });
  });
  writeFileSync(path.join(folder, 'tasks.jsonl'), `${lines.join('\n')}\n`);
  const args = ['bench', '--tasks', 'tasks.jsonl', '--out', 'out', '--quiet', '--port-base', 'auto'];
  const { code, stderr } = await runCli(args, { cwd: folder });
  expect({ code, stderr }).toMatchObject({ code: 0 });
  writeFileSync(path.join(folder, 'comparison.json'), HOSTILE);
});

/** The page that `view` serves; complaints of the browser fail the test. */
async function viewed(args: readonly string[]) {
  const cli = new Cli(['view', ...args], { cwd: folder });
  await cli.says(/Ctrl-C ends it/);
  await expect.poll(() => cli.stdout).toMatch(/^http:\S+\n$/);
  const url = cli.stdout.trim();
  const context = await browser().newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    const { origin } = new URL(url);
    if (!request.url().startsWith(origin) && !request.url().startsWith('data:'))
      complaints.push(request.url());
  });
  onTestFinished(async () => {
    await context.close();
    expect(complaints).toEqual([]);
    cli.signal('SIGINT');
    expect(await cli.ended()).toMatchObject({ code: 0 });
  });
  await page.goto(url);
  return page;
}

test('lists a folder, and opens what is in it', async () => {
  const page = await viewed(['.']);

  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(
    '1\u00a0run: 3 tasks, 100 % right',
  );
  expect(await page.getByRole('note').textContent()).toBe(
    'Left out: files whose content does not match their name: comparison.json.',
  );
  const results = page.getByRole('region', { name: 'Results' });
  // The question comes first, then what came of it and when.
  expect(await results.getByRole('row', { name: /^3 tasks 100 % right 3 of 3 answered/ }).count()).toBe(1);
  await results.getByRole('link', { name: '3 tasks' }).click();
  await expect
    .poll(() => page.getByRole('heading', { level: 1 }).textContent())
    .toMatch(/^3 of 3.tasks right/);
  const packets = page.getByRole('region', { name: 'Packets', exact: true });
  await packets.getByRole('button', { name: 'doc_init' }).first().click();
  const opened = page.getByRole('region', { name: 'Packet doc_init' });
  await expect.poll(() => opened.textContent()).toContain(HOSTILE.slice(0, 18));
  expect(await page.evaluate('globalThis.taken')).toBeUndefined();

  await page.getByRole('link', { name: 'All results' }).click();
  await expect.poll(() => results.locator('tbody tr').count()).toBe(1);
});

test('a file that is none of ours is said, with what was expected', async () => {
  const { code, stderr } = await runCli(['view', 'tasks.jsonl'], { cwd: folder });

  expect(code).toBe(2);
  expect(stderr).toMatch(
    /tasks\.jsonl: expected an archive of a run, comparison\.json, blame\.json, or the answers/,
  );
});
