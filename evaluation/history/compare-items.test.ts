import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../core/testing/temporary-folder.ts';
import { parseComparison } from '../compare/comparison-file.ts';
import { sampleComparison } from '../compare/testing/sample-comparison.ts';
import { sampleArchive } from '../report/testing/sample-archive.ts';
import { comparedOrWhy } from './compare-items.ts';
import { folderItems } from './folder-items.ts';
import type { FolderItem } from './folder-view.ts';

/** The run of so many tasks of which `right` says which were answered right. */
async function runItem(
  folder: string,
  name: string,
  tasks: number,
  right: (task: number) => boolean,
  text = 'hello',
) {
  const results = Array.from({ length: tasks }, (_, task) => {
    const em = right(task) ? 1 : 0;
    return JSON.stringify({
      ...{
        task_id: `t-${task}`,
        answer: text,
        truth: 'hello',
        exact_match: em,
        rouge_l: em,
        quality_score: em,
      },
      ...{
        normalized_em: em,
        f1: em,
        token_sum: 1,
        bytes_tx: 1,
        bytes_rx: 1,
        pkt_cnt: 1,
        elapsed_ms: 1,
        status: 'answered',
      },
    });
  });
  const archive = await sampleArchive({ tasks, text, files: { 'results.jsonl': `${results.join('\n')}\n` } });
  mkdirSync(path.join(folder, name));
  renameSync(archive, path.join(folder, name, 'run_artifacts.tar.gz'));
}

/** The item of a folder whose place begins with a name. */
function itemIn(folder: string, name: string): FolderItem {
  const item = folderItems(folder).items.find(({ place }) => place.startsWith(name));
  if (item === undefined) throw new Error(`there is no ${name}`);
  return item;
}

test('runs of the same questions: right answers with an interval and a verdict, bytes as they are', async () => {
  const folder = temporaryFolder();
  await runItem(folder, 'base', 40, (task) => task < 10);
  await runItem(folder, 'other', 40, (task) => task < 35);

  const compared = await comparedOrWhy(itemIn(folder, 'base'), itemIn(folder, 'other'));

  expect(compared.refused).toEqual([]);
  expect(compared.table?.rows[0]?.slice(1, 5).map((cell) => String(cell))).toEqual([
    '40',
    expect.stringMatching(/^\+62\.5.%$/),
    expect.stringMatching(/^\+\d\d\.\d.% to \+\d\d\.\d.%$/),
    'better',
  ]);
  expect(compared.versus?.finding).toContain('as many bytes');
});

test('a difference that chance makes is not called one', async () => {
  const folder = temporaryFolder();
  await runItem(folder, 'base', 10, (task) => task < 5);
  await runItem(folder, 'other', 10, (task) => task < 6);

  const { table } = await comparedOrWhy(itemIn(folder, 'base'), itemIn(folder, 'other'));

  expect(table?.rows[0]).toContain('no detectable difference');
});

test('runs of other questions are refused, and so is what only some questions would say', async () => {
  const folder = temporaryFolder();
  await runItem(folder, 'base', 4, () => true);
  await runItem(folder, 'foreign', 4, () => true, 'another question');
  await runItem(folder, 'longer', 8, () => true);

  expect(await comparedOrWhy(itemIn(folder, 'base'), itemIn(folder, 'foreign'))).toMatchObject({
    table: null,
    versus: null,
    refused: ['These runs cannot be compared: they share no question.'],
  });
  expect(await comparedOrWhy(itemIn(folder, 'base'), itemIn(folder, 'longer'))).toMatchObject({
    versus: null,
    refused: [
      expect.stringMatching(/^Bytes, tokens and times .* only 4 questions are in both, of 4 and 8\.$/),
    ],
  });
});

test('comparisons: what changed, with intervals; another machine is refused by name', async () => {
  const folder = temporaryFolder();
  const put = (name: string, value: unknown) => {
    mkdirSync(path.join(folder, name));
    writeFileSync(path.join(folder, name, 'comparison.json'), JSON.stringify(value));
  };
  const sample = parseComparison(
    JSON.stringify(await sampleComparison(['json', 'a2a'], 'pipeline')),
    'sample',
  );
  put('before', sample);
  put('after', sample);
  put('elsewhere', { ...sample, environment: { ...sample.environment, cpu: 'another' } });

  const same = await comparedOrWhy(itemIn(folder, 'before'), itemIn(folder, 'after'));
  expect(same.refused).toEqual([]);
  expect(same.table?.rows.map(([name, bytes]) => [name, bytes])).toEqual([
    ['json', expect.stringContaining('the same')],
    ['a2a', expect.stringContaining('the same')],
  ]);
  expect(await comparedOrWhy(itemIn(folder, 'before'), itemIn(folder, 'elsewhere'))).toMatchObject({
    table: null,
    refused: [
      expect.stringMatching(/cannot be compared; different are the processor \(then .*, now another\)/),
    ],
  });
});

test('kinds that measure different things are refused, and so are files that are none', async () => {
  const folder = temporaryFolder();
  await runItem(folder, 'base', 1, () => true);
  writeFileSync(
    path.join(folder, 'comparison.json'),
    JSON.stringify(await sampleComparison(['json', 'a2a'], 'x')),
  );
  mkdirSync(path.join(folder, 'broken'));
  writeFileSync(path.join(folder, 'broken', 'run_artifacts.tar.gz'), 'no archive');

  const [base, broken] = [itemIn(folder, 'base'), itemIn(folder, 'broken')];
  expect((await comparedOrWhy(base, itemIn(folder, 'comparison'))).refused).toEqual([
    'A run and a comparison measure different things: choose two of one kind.',
  ]);
  expect((await comparedOrWhy(base, broken)).refused).toEqual([expect.stringContaining('cannot be read')]);
  expect((await comparedOrWhy(base, base)).refused).toEqual(['This is the same file twice.']);
});
