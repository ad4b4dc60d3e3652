import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { attemptOf } from '../batch/testing/results.ts';
import { sampleBlame } from '../blame/testing/sample-blame.ts';
import { parseComparison } from '../compare/comparison-file.ts';
import { makeStacksFile } from '../compare/stacks/testing/sample-stacks.ts';
import { sampleComparison } from '../compare/testing/sample-comparison.ts';
import { readBatchData } from './batch-data.ts';
import type { PageContent } from './page-data.ts';
import { fillPage } from './page-html.ts';
import { buildRunData } from './run/run-data.ts';
import { browserOfTests, findBarriers, openFile } from './testing/page-in-browser.ts';
import { sampleRun } from './testing/sample-archive.ts';
import { sampleSource } from './testing/sample-batch.ts';

/** A text that would run if any of it were taken for markup, with an invisible character. */
const HOSTILE =
  '</script><script>globalThis.taken = true</script><!-- <img src=x onerror="globalThis.taken = true">\u202e é';
const WRONG = { correct: false, correct_lenient: false, final_answer: 'another' } as const;
const TEAMS = ['single', 'pipeline', 'supervisor', 'react', 'overseer', 'panel'];

const folder = temporaryFolder();
const files = {
  run: path.join(folder, 'run.html'),
  batch: path.join(folder, 'batch.html'),
  teams: path.join(folder, 'teams.html'),
  questions: path.join(folder, 'questions.html'),
  comparison: path.join(folder, 'comparison.html'),
  stacks: path.join(folder, 'stacks.html'),
  blame: path.join(folder, 'blame.html'),
  folder: path.join(folder, 'folder.html'),
};
type Kind = keyof typeof files;

const stacksText = `${JSON.stringify(parseComparison(JSON.stringify(sampleStacks()), 'sample', 'stacks'), null, 2)}\n`;

const browser = browserOfTests(async () => {
  const write = (kind: Kind, content: PageContent) => writeFileSync(files[kind], fillPage(content).html);
  write('run', { kind: 'run', run: buildRunData(await sampleRun({ text: HOSTILE })) });
  const results = [0, 1].map((task) =>
    JSON.stringify(attemptOf(`t-${task}`, task === 0 ? { ...WRONG, normalized_em: 0 } : {})),
  );
  const batch = await sampleRun({ tasks: 7_000, steps: 1, files: { 'results.jsonl': results.join('\n') } });
  write('batch', { kind: 'run', run: buildRunData(batch) });
  write('teams', { kind: 'batch', batch: readBatchData(sampleTeams()) });
  const many = sampleSource({ questions: 2000, result: ({ index }) => (index % 3 === 0 ? WRONG : {}) });
  write('questions', { kind: 'batch', batch: readBatchData(many) });
  write('comparison', { kind: 'comparison', comparison: await compareSamples() });
  write('stacks', { kind: 'comparison', comparison: parseComparison(stacksText, 'sample', 'stacks') });
  write('blame', { kind: 'blame', blame: sampleBlame(HOSTILE) });
  const texts = { question: HOSTILE, answer: HOSTILE, setting: HOSTILE, place: HOSTILE, modifiedMs: 0 };
  const items = ['right', 'wrong', HOSTILE].map((verdict, id) => ({
    ...texts,
    id: `${id}`,
    kind: 'run',
    verdict,
  }));
  write('folder', { kind: 'folder', title: HOSTILE, items, left: [HOSTILE] });
});

const opened = (kind: Kind, view?: Parameters<typeof openFile>[2]) => openFile(browser(), files[kind], view);
const heading = (page: Page) => page.getByRole('heading', { level: 1 }).textContent();
const rowOf = (page: Page, table: string, name: string | RegExp) =>
  page.getByRole('region', { name: table, exact: true }).getByRole('row', { name });

describe('every page', () => {
  const kinds = Object.keys(files) as Kind[];

  test.each(kinds)(
    'of %s runs nothing of what it shows, fits a phone, and keeps nobody out',
    async (kind) => {
      const page = await opened(kind, { width: 390, scheme: 'dark' });
      for (const summary of await page.locator('summary').all()) await summary.click();
      const opener = page.locator('button.open').first();
      if ((await opener.count()) > 0) await opener.click();

      expect(await page.evaluate('globalThis.taken')).toBeUndefined();
      expect(await page.locator('img, iframe, #page script').count()).toBe(0);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
      expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toMatch(
        /^rgb\(\d\d, \d\d, \d\d\)$/,
      );
      expect(await findBarriers(page)).toEqual([]);
      expect(await page.evaluate(`(${listUnexplained})()`)).toEqual([]);
    },
  );

  test('has a policy under which no other script runs and nothing is fetched', async () => {
    const page = await browser().newPage();
    await page.goto(`file://${files.run}`);

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
    await page.close();
  });
});

describe('the page of a run', () => {
  test('has the answer as its title, and the way from payload to sockets', async () => {
    const page = await opened('run');

    expect(await heading(page)).toMatch(/^“<\/script><script>.*: answered, in 2\.00.ms$/);
    expect(await heading(page)).toContain('\\u202e');
    expect(await page.getByRole('navigation').getByRole('link').allTextContents()).toEqual([
      'Packets',
      'Time',
      'Bytes',
    ]);
    expect(await rowOf(page, 'From payload to the sockets', /= each packet once/).count()).toBe(1);
    expect(await rowOf(page, 'Packets', /final answer/).count()).toBe(1);
  });

  test('opens a packet from the table and by keys', async () => {
    const page = await opened('run');
    await page.getByRole('region', { name: 'Packets', exact: true }).getByRole('button').last().click();

    const text = await page.getByRole('region', { name: 'Packet data_event' }).textContent();
    expect(text).toContain('\\u202e é');
    expect(JSON.parse(text ?? '')).toMatchObject({ from: '1', payload: { answer: HOSTILE } });
    await page.getByRole('img', { name: /packets between/ }).focus();
    await page.keyboard.press('ArrowLeft');
    await expect
      .poll(() => page.getByRole('region', { name: /^Packet / }).textContent())
      .toContain('"0-0-0"');

    await page.getByRole('button', { name: 'Close' }).click();
    expect(await page.getByRole('region', { name: /^Packet / }).count()).toBe(0);
  });

  test('draws 21,000 packets, and a click on one opens it', async () => {
    const page = await opened('batch');
    const lanes = page.getByRole('img', { name: /^21000 packets between 3 nodes/ });

    await lanes.click({ position: { x: 400, y: 40 } });
    await expect.poll(() => page.getByRole('button', { name: 'Close' }).count()).toBe(1);
  });

  test('has wrong answers of a batch first, and shows the reasoning and the packets of one', async () => {
    const page = await opened('batch');
    const answers = page.getByRole('region', { name: 'Questions', exact: true });
    expect(await answers.locator('.badge').allTextContents()).toEqual(['wrong', 'right']);

    await answers
      .getByRole('button', { name: /t-0|hello/ })
      .first()
      .click();

    expect(await page.getByRole('img', { name: /^3 packets between/ }).count()).toBe(1);
    const packets = page.getByRole('region', { name: 'Packets', exact: true });
    await packets.getByRole('button', { name: 'bytes' }).click();
    const bytes = await packets.locator('tbody td:nth-of-type(4)').allTextContents();
    const numbers = bytes.map((each) => Number(each.replace(',', '')));
    expect(numbers).toEqual(numbers.toSorted((a, b) => b - a));
  });
});

describe('the page of teams', () => {
  test('says who is right, with the verdict beside each team, on a phone too', async () => {
    const page = await opened('teams', { width: 390 });

    expect(await heading(page)).toMatch(/^panel is right on 120.of 240.questions, single on 0$/);
    const verdicts = page.getByRole('region', { name: 'Right answers', exact: true }).locator('.badge');
    expect(await verdicts.allTextContents()).toEqual(['baseline', ...TEAMS.slice(1).map(() => 'better')]);
    for (const verdict of await verdicts.all()) {
      const box = await verdict.boundingBox();
      expect((box?.x ?? 0) + (box?.width ?? 999)).toBeLessThan(390);
    }
  });

  test('opens a question to what each team made of it, by the keyboard', async () => {
    const page = await opened('teams');
    const questions = page.getByRole('region', { name: 'Questions', exact: true });
    await page.getByLabel('Find').first().fill('IS 2? level');
    await questions.getByRole('button', { name: /^What is 2\?/ }).focus();

    await page.keyboard.press('Enter');

    const detail = questions.locator('tr.detail');
    expect(await detail.textContent()).toContain(`True answer: 2${HOSTILE.replace('\u202e', '\\u202e')}`);
    expect(await detail.getByRole('heading').allTextContents()).toEqual([
      'single wrong',
      'pipeline wrong',
      'supervisor wrong',
      'react right',
      'overseer right',
      'panel right',
    ]);
    await detail.getByText('Reasoning and tool calls of react: 2 steps').click();
    expect(await detail.getByText('react: calculator(').textContent()).toContain('→ 2</script>');
    await questions.getByRole('button', { name: /^What is 2\?/ }).press('Enter');
    expect(await detail.count()).toBe(0);
  });

  test('finds questions by what became of them, by their words, and by cycle', async () => {
    const page = await opened('teams');
    const card = page.locator('#questions');
    const status = () => card.getByRole('status').textContent();

    expect(await status()).toBe('240 rows');
    await card.getByRole('button', { name: 'no team is right' }).click();
    expect(await status()).toBe('120 rows');
    await card.getByRole('button', { name: 'all questions' }).click();
    await card.getByLabel('Find').fill('cached');
    expect(await status()).toBe('1 of 240 rows');
    await card.getByRole('button', { name: 'cycle 2' }).click();
    expect(await status()).toBe('0 of 240 rows');
    await card.getByLabel('Find').fill('IS 123? level');
    expect(await status()).toBe('1 of 240 rows');
  });

  test('counts what went wrong by role and kind, and the tools', async () => {
    const page = await opened('teams');

    const cells = (row: RegExp) =>
      rowOf(page, 'How each team worked', row).getByRole('cell').allTextContents();
    expect(await cells(/^first attempts failed/)).toEqual(['failed', '48', '48', '48', '48', '48', '24']);
    expect(await cells(/^wrong or failed other/)).toHaveLength(7);
    expect(await cells(/^failures by role <\/script>/)).toHaveLength(7);
    expect((await cells(/^tool calls calculator/))[1]).toBe('479 (159 failed)');
  });
});

describe('the pages of comparisons', () => {
  test('of adapters say first what came of it, with verdicts, and give the file away', async () => {
    const page = await opened('comparison');

    expect(await heading(page)).toMatch(
      /^msgpack takes 0\.\d\d× the bytes of json, a?.*; whether msgpack is faster or slower cannot be told yet; a2a and anp are slower$/,
    );
    expect(await page.locator('#verdicts .about').first().textContent()).toContain('measured against itself');
    const verdicts = page.getByRole('region', { name: 'Verdicts on time' });
    expect(await verdicts.locator('.badge').allTextContents()).toEqual([
      'baseline',
      'equal ±5 %',
      'cannot tell',
      'slower',
      'slower',
    ]);
    expect(await page.getByText('npm run compare -- --adapters json,msgpack').count()).toBe(1);
    expect(await page.getByText('25 Nov 2026, 07:31 UTC').count()).toBe(1);
    expect(
      parseComparison(await save(page, 'comparison.json'), 'saved', 'adapters').arms[0]?.samples_us.time,
    ).toHaveLength(10);
  });

  test('have the figures of the terminal’s tables', async () => {
    const page = await opened('comparison');
    const row = rowOf(page, 'Adapters', /^msgpack/);

    expect(await row.getByRole('cell').allTextContents()).toContain('1.10–1.30');
    // A short axis has figures, too.
    const axis = page.getByRole('img', { name: 'Distribution of the times' }).locator('text');
    expect((await axis.allTextContents()).filter((text) => /^[\d.]+$/.test(text)).length).toBeGreaterThan(2);
  });

  test('of stacks have verdicts on other figures, load curves, and the file as it was written', async () => {
    const page = await opened('stacks');

    expect(await heading(page)).toMatch(
      /takes 1\.00× the bytes of mesh\/json bare, .*a2a\/jsonrpc bare is slower/,
    );
    expect(await page.getByRole('img', { name: /^Latency by load/ }).count()).toBeGreaterThan(1);
    await page.getByRole('button', { name: 'CPU time', exact: true }).click();
    expect(await page.getByRole('region', { name: 'Verdicts on CPU time' }).count()).toBe(1);
    expect(await save(page, 'comparison.json')).toBe(stacksText);
  });
});

describe('the page of a search for the message to blame', () => {
  test('names the message first, marks it, and shows what it said', async () => {
    const page = await opened('blame');

    expect(await heading(page)).toBe('Message 3 made the answer wrong');
    const messages = page.getByRole('region', { name: 'Messages', exact: true });
    expect(await messages.locator('.badge.bad').allTextContents()).toEqual(['made the answer wrong']);
    await messages.getByRole('button', { name: '3 solver → all' }).click();
    expect(await page.getByRole('region', { name: 'Message 3' }).textContent()).toBe(
      HOSTILE.replace('\u202e', '\\u202e'),
    );
  });
});

/** Runs in the page: lists the figures without a unit, or without a word on how they were measured. */
const listUnexplained = `() => {
  const units = /[%×$]|\\b(B|bytes?|kB|MB|mebibytes|ms|s|µs|p|milliseconds|microseconds|seconds|minutes|cpu|points|share|chance|ratio|multiple|tokens?|packets?|tasks?|questions?|answers|attempts|calls|processes|exchanges|messages|samples|invocations|tools|cycle|number|words)\\b/i;
  const readColumn = (head) =>
    [...(head.closest('table')?.rows ?? [])].map(({ cells }) => cells[head.cellIndex]?.textContent).join(' ');
  return [...document.querySelectorAll('thead .number, .facts > div')]
    .map((head) => ({ title: head.title, text: [head.title, head.textContent, readColumn(head)].join(' ') }))
    .filter(({ title, text }) => title === '' || !units.test(text))
    .map(({ text }) => text);
}`;

async function save(page: Page, name: string): Promise<string> {
  const saved = page.waitForEvent('download');
  await page.getByRole('link', { name: `save ${name}` }).click();
  const file = path.join(temporaryFolder(), name);
  await (await saved).saveAs(file);
  return readFileSync(file, 'utf8');
}

function sampleTeams() {
  return sampleSource({
    teams: TEAMS,
    questions: 240,
    repeat: 2,
    text: HOSTILE,
    result: ({ team, index, cycle }) => {
      const place = TEAMS.indexOf(team);
      const took = { bytes: 1000 * (place + 1), cached: cycle === 1 && index === 3 };
      if (index % 10 < place) return { ...took, gap: undefined };
      if (index === 21)
        return { ...took, ...WRONG, status: 'timeout', reason: HOSTILE, failed_role: HOSTILE };
      const failed = index % 5 === 4 ? ({ status: 'failed', reason: 'no' } as const) : {};
      return { ...took, ...WRONG, ...failed, gap: 'other' };
    },
  });
}

async function compareSamples() {
  const adapters = ['json', 'msgpack', 'a2a', 'anp'];
  const kept: { arms: object[] } = JSON.parse(JSON.stringify(await sampleComparison(adapters, HOSTILE)));
  const by_part = ['chatty', HOSTILE].map((name) => ({ name, packets: 5, payload: 900, wire: 1000 }));
  const by_size = ['to 1 kB', 'more'].map((name) => ({ name, packets: 5, payload: 900, wire: 1200 }));
  const sample = {
    ...kept,
    arms: kept.arms.map((row) => ({ ...row, by_part, by_size })),
    command: 'npm run compare -- --adapters json,msgpack,a2a,anp',
    measured_at: '2026-11-25T07:31:09.000Z',
  };
  return parseComparison(JSON.stringify(sample), 'sample', 'adapters');
}

function sampleStacks() {
  return {
    ...makeStacksFile([
      { name: 'mesh/json', factor: 1 },
      { name: 'a2a/jsonrpc', factor: 3 },
      { name: HOSTILE, factor: 1.001 },
      { name: 'json/websocket', factor: 2, isOverloaded: true },
    ]),
    warnings: [HOSTILE],
  };
}
