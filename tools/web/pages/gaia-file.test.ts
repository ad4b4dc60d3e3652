import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { serveWeb, type WebScripts } from '../testing/serve-web.ts';
import { gaiaFile } from './gaia-file.ts';

const DATASET_TASK = '00000000-0000-4000-8000-000000000002';
const API_TASK = '00000000-0000-4000-8000-000000000003';
const inDataset = { task_id: DATASET_TASK, file_name: `${DATASET_TASK}.csv` };
const inApi = { task_id: API_TASK, file_name: `${API_TASK}.txt` };

let files: string;
beforeEach(async () => {
  files = await mkdtemp(path.join(os.tmpdir(), 'gaia-file-'));
});
afterEach(async () => {
  await rm(files, { recursive: true });
});

async function serve(scripts: WebScripts = {}, options = {}, taskId = DATASET_TASK) {
  const services = await serveWeb(scripts, { files, options, taskId });
  return {
    place: services.place,
    asked: () => services.requests.map(({ service, path: at }) => `${service} ${at}`),
    services,
  };
}

const base = '/datasets/gaia-benchmark/GAIA/resolve/main/2023';

describe('gaia_file', () => {
  test('gets it from the dataset with the user’s token (SV-12)', async () => {
    const { place, asked, services } = await serve();
    const { text, data } = await gaiaFile.run(inDataset, place);
    expect(text).toBe(
      `the file of ${DATASET_TASK} is downloads/${DATASET_TASK}.csv (23 bytes, source: dataset)`,
    );
    expect(data).toEqual({ file: `downloads/${DATASET_TASK}.csv`, bytes: 23, source: 'dataset' });
    expect(await readFile(path.join(files, `downloads/${DATASET_TASK}.csv`), 'utf8')).toBe(
      'name,height\nVellmar,41\n',
    );
    expect(asked()).toEqual([`huggingface ${base}/validation/${DATASET_TASK}.csv`]);
    expect(services.requests[0]?.headers.authorization).toBe('Bearer hf_inventedtoken3');
  });

  test('asks the scoring service where the dataset has none, without the token (SV-12, C-35)', async () => {
    const { place, asked, services } = await serve({}, {}, API_TASK);
    const { data } = await gaiaFile.run(inApi, place);
    expect(data).toMatchObject({ file: `downloads/${API_TASK}.txt`, source: 'api' });
    expect(asked()).toEqual([
      `huggingface ${base}/validation/${API_TASK}.txt`,
      `huggingface ${base}/test/${API_TASK}.txt`,
      `scoring /files/${API_TASK}`,
    ]);
    expect(services.requests[2]?.headers.authorization).toBeUndefined();
  });

  test('asks the scoring service where the dataset is not to be had (SV-12)', async () => {
    const refused = { status: 403, body: { error: 'Access to this dataset is restricted.' } };
    const { place } = await serve({ huggingface: [refused] }, {}, API_TASK);
    expect((await gaiaFile.run(inApi, place)).data?.source).toBe('api');
    await rm(path.join(files, 'downloads'), { recursive: true });
    const { place: tokenless, asked } = await serve({}, {}, API_TASK);
    const environment = { ...tokenless.environment, HF_TOKEN: undefined };
    expect((await gaiaFile.run(inApi, { ...tokenless, environment })).data?.source).toBe('api');
    expect(asked()).toEqual([`scoring /files/${API_TASK}`]);
  });

  test('follows the dataset to where it keeps its files, and leaves the token behind (RA-50)', async () => {
    const { place, services } = await serve({
      huggingface: ({ pages }) => ({ status: 302, headers: { location: `${pages}/data.csv` } }),
    });
    expect((await gaiaFile.run(inDataset, place)).data?.source).toBe('dataset');
    const [first, second] = services.requests;
    expect([first?.service, second?.service]).toEqual(['huggingface', 'pages']);
    expect(first?.headers.authorization).toBe('Bearer hf_inventedtoken3');
    expect(second?.headers.authorization).toBeUndefined();
  });

  test('reports a miss with what every source said (C-35, REQ-050)', async () => {
    const refused = { status: 401, body: { error: 'Bad token hf_inventedtoken3' } };
    const { place } = await serve({ huggingface: [refused] });
    await expect(gaiaFile.run(inDataset, place)).rejects.toThrow(
      `not found: the file ${DATASET_TASK}.csv of ${DATASET_TASK} (local: it is not in the folder of the task; ` +
        'dataset: huggingface answered with status 401: Bad token [HF_TOKEN] (check HF_TOKEN); ' +
        'api: status 404, it has no such file); go on without it',
    );
    expect(await readdir(files)).toEqual([]);
  });

  test.each(['metadata.jsonl', 'metadata.parquet', `${API_TASK}.csv`, DATASET_TASK.slice(1)])(
    'asks the dataset for the question’s own file alone, never for %s (the true answers lie beside it)',
    async (file_name) => {
      const { place, asked } = await serve({}, { sources: ['dataset'] });
      await expect(gaiaFile.run({ task_id: DATASET_TASK, file_name }, place)).rejects.toThrow(
        `its files there are named ${DATASET_TASK}`,
      );
      expect(asked()).toEqual([]);
    },
  );

  test.each(['metadata', 'metadata.level1', 'README'])(
    'asks the dataset for nothing where the question says that its id is %s',
    async (taskId) => {
      const { place, asked } = await serve({}, { sources: ['dataset'] }, taskId);
      const file_name = `${taskId}.jsonl`;
      await expect(gaiaFile.run({ task_id: taskId, file_name }, place)).rejects.toThrow(
        'ids there are UUIDs',
      );
      expect(asked()).toEqual([]);
    },
  );

  test('gets the file of no other question than the one that is asked, in whichever of its cycles', async () => {
    const { place, asked } = await serve({}, {}, `${DATASET_TASK}#2`);
    await expect(gaiaFile.run(inApi, place)).rejects.toThrow(`task_id ${API_TASK} is another question's`);
    expect(asked()).toEqual([]);
    expect((await gaiaFile.run(inDataset, place)).data?.source).toBe('dataset');
  });

  test('takes what is in the task’s folder already, and asks nobody (C-35)', async () => {
    await writeFile(path.join(files, inApi.file_name), 'here');
    const { place, asked } = await serve({}, {}, API_TASK);
    expect((await gaiaFile.run(inApi, place)).data).toEqual({
      file: `${API_TASK}.txt`,
      bytes: 4,
      source: 'local',
    });
    expect(asked()).toEqual([]);
  });

  test('asks in the order of the team file (C-35)', async () => {
    const { place, asked } = await serve({}, { sources: ['api', 'dataset'] });
    expect((await gaiaFile.run(inDataset, place)).data?.source).toBe('dataset');
    expect(asked()[0]).toBe(`scoring /files/${DATASET_TASK}`);
    const strange = { ...place, options: { sources: ['floppy'] } };
    await expect(gaiaFile.run(inDataset, strange)).rejects.toThrow('options.sources must be a list of');
  });

  test.each([
    { task_id: '../submit', file_name: 'a.txt' },
    { task_id: 'a/b', file_name: 'a.txt' },
    { task_id: 'a?b', file_name: 'a.txt' },
    { task_id: 'a', file_name: '../a.txt' },
    { task_id: 'a', file_name: '/etc/passwd' },
    { task_id: 'a', file_name: '.env' },
    { task_id: 'a', file_name: 'a b#c.txt' },
    { task_id: '', file_name: 'a.txt' },
  ])('takes no ids and names that lead elsewhere: %j (RA-52)', (input) => {
    expect(gaiaFile.input.safeParse(input).success).toBe(false);
  });
});
