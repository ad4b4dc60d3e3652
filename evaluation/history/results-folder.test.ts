import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { sampleBlame } from '../blame/testing/sample-blame.ts';
import { sampleComparison } from '../compare/testing/sample-comparison.ts';
import type { FolderPlace } from '../report/page-data.ts';
import { sampleArchive } from '../report/testing/sample-archive.ts';
import { readFileItem, serveFolder } from './results-folder.ts';

const metrics = {
  ...{ team: 'pipeline', adapter: 'json', engine: 'extractive', status: 'answered', answer: 'Ada' },
  ...{ tasks: 1, answered: 1, normalized_em: 1 },
};

async function putRun(folder: string, own: object = metrics) {
  mkdirSync(folder, { recursive: true });
  const files = { 'hub.log': '{"event":"task_began","time":0,"task_id":"t","question":"What is it?"}\n' };
  copyFileSync(await sampleArchive({ files }), path.join(folder, 'run_artifacts.tar.gz'));
  writeFileSync(path.join(folder, 'metrics.json'), JSON.stringify(own));
}

/** Returns the data of the page that lists a folder. */
async function list(folder: string): Promise<FolderPlace> {
  const server = await serveFolder({ folder, item: undefined, port: 0 });
  onTestFinished(() => server.close());
  const html = await (await fetch(server.url)).text();
  return JSON.parse(/id="data">(.*?)</.exec(html)?.[1] ?? '');
}

test('lists runs, comparisons and findings at any depth that results have, the last first', async () => {
  const folder = temporaryFolder();
  await putRun(folder);
  await putRun(path.join(folder, 'runs', '2026-01-01'), {
    ...metrics,
    tasks: 4,
    answered: 3,
    normalized_em: 0.5,
  });
  writeFileSync(
    path.join(folder, 'comparison.json'),
    JSON.stringify(await sampleComparison(['json', 'a2a'], 'pipeline')),
  );
  writeFileSync(path.join(folder, 'blame.json'), JSON.stringify(sampleBlame()));

  const { items, left } = await list(folder);

  expect(left).toEqual([]);
  expect(
    items.map(({ kind, place, setting, question, answer, verdict }) => [
      kind,
      place,
      setting,
      [question, answer, verdict],
    ]),
  ).toEqual(
    expect.arrayContaining([
      ['run', 'run_artifacts.tar.gz', 'pipeline · json · extractive', ['What is it?', 'Ada', 'right']],
      [
        'run',
        path.join('runs', '2026-01-01', 'run_artifacts.tar.gz'),
        'pipeline · json · extractive',
        ['4 tasks', '3 of 4 answered', '50 % right'],
      ],
      [
        'comparison',
        'comparison.json',
        'json, a2a',
        [
          '2 adapters on the same traffic',
          expect.stringMatching(/^a2a takes \d\.\d\d× the bytes of json/),
          '',
        ],
      ],
    ]),
  );
  expect(items).toContainEqual(
    expect.objectContaining({
      kind: 'blame',
      question: 'Who kept light 3? The keeper was Bo Lind.',
      answer: expect.stringMatching(/^Message 3 made the answer wrong/),
      verdict: 'wrong',
    }),
  );
  expect(items.map(({ modifiedMs }) => modifiedMs)).toEqual(
    items.map(({ modifiedMs }) => modifiedMs).sort((a, b) => b - a),
  );
});

test('reads nothing outside of the folder, waits for nobody, and says what is not what its name says', async () => {
  const [folder, outside] = [temporaryFolder(), temporaryFolder()];
  await putRun(outside);
  symlinkSync(outside, path.join(folder, 'linked'));
  symlinkSync(path.join(outside, 'run_artifacts.tar.gz'), path.join(folder, 'run_artifacts.tar.gz'));
  mkdirSync(path.join(folder, 'pipe'));
  execFileSync('mkfifo', [
    path.join(folder, 'pipe', 'comparison.json'),
    path.join(folder, 'pipe', 'metrics.json'),
  ]);
  mkdirSync(path.join(folder, 'broken'));
  writeFileSync(path.join(folder, 'broken', 'comparison.json'), '{"__proto__": 1, "sentence": [');
  writeFileSync(path.join(folder, 'broken', 'x.batch.json'), '[]');
  await putRun(path.join(folder, '.hidden'));

  expect(await list(folder)).toMatchObject({
    items: [],
    left: [
      expect.stringMatching(
        /^files whose content does not match their name: broken\/comparison\.json, broken\/x\.batch\.json$/,
      ),
    ],
  });
});

test('texts of files are one line each, of a bounded length', async () => {
  const folder = temporaryFolder();
  await putRun(path.join(folder, 'a\nb'), {
    ...metrics,
    team: `x\u001b[31m${'y'.repeat(1000)}`,
    answer: 'one\ntwo',
  });

  const [item] = (await list(folder)).items;

  expect(item?.setting.length).toBeLessThanOrEqual(160);
  expect(`${item?.place}${item?.setting}${item?.answer}`).not.toMatch(/\p{Cc}/u);
  expect(item?.answer).toBe('one two');
});

async function putComparison(folder: string, name: string): Promise<string> {
  const file = path.join(folder, name, 'comparison.json');
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(await sampleComparison(['json', 'a2a'])));
  return file;
}

test('lists what is there when it is asked, and a file from elsewhere, and knows of nothing else', async () => {
  const folder = temporaryFolder();
  const first = await putComparison(folder, 'first');
  const elsewhere = readFileItem(await putComparison(temporaryFolder(), 'elsewhere'));
  const server = await serveFolder({ folder, item: elsewhere, port: 0 });
  onTestFinished(() => server.close());
  const statusOf = async (id: string) => (await fetch(`${server.url}item/${id}/`)).status;

  const second = await putComparison(folder, 'second');
  expect(await statusOf(readFileItem(second).id)).toBe(200);
  expect(await statusOf(readFileItem(first).id)).toBe(200);
  expect(await statusOf(elsewhere.id)).toBe(200);
  expect(await statusOf('nobody')).toBe(404);

  const page = await (await fetch(server.url)).text();
  for (const { id } of [readFileItem(first), readFileItem(second), elsewhere]) expect(page).toContain(id);
  expect(page).not.toContain(first);
});
