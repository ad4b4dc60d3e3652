import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { JsonObject } from '@gaia-mesh/core/contracts/packet.ts';
import { describe, expect, test } from 'vitest';
import type { DataTool } from '../data-tool.ts';
import { dataTools } from '../data-tools.ts';
import { taskPlace } from './testing/task-place.ts';

/** Returns valid arguments of each tool for a file of that name; undefined for tools that read no file. */
const ARGUMENTS: Readonly<Record<string, ((file: string) => JsonObject) | undefined>> = {
  list_files: undefined,
  find_file: undefined,
  read_file: (file) => ({ file }),
  read_excel: (file) => ({ file }),
  query_table: (file) => ({ file, sql: 'SELECT count(*) FROM t1' }),
  read_pdf: (file) => ({ file }),
  read_docx: (file) => ({ file }),
  read_pptx: (file) => ({ file }),
  read_zip: (file) => ({ file }),
};

async function toolNamed(name: string): Promise<DataTool> {
  const tool = await dataTools[name]?.load();
  if (tool === undefined) throw new Error(`the registry has no ${name}`);
  return tool;
}

const readers = Object.entries(ARGUMENTS).flatMap(([name, argumentsFor]) =>
  argumentsFor === undefined ? [] : [{ name, argumentsFor }],
);

describe.each(readers)('$name', ({ name, argumentsFor }) => {
  const run = async (file: string, place: ReturnType<typeof taskPlace>) => {
    const tool = await toolNamed(name);
    return tool.run(tool.input.parse(argumentsFor(file)), place);
  };

  test('names a missing file with its path (REQ-052)', async () => {
    const place = taskPlace({ 'other.txt': '' });
    const reply = run('missing.bin', place);
    await expect(reply).rejects.toMatchObject({ code: 'tool' });
    await expect(reply).rejects.toThrow(
      `there is no file missing.bin: the task has ./other.txt; it was looked for up to ${place.files}/downloads/missing.bin`,
    );
  });

  test('reads nothing outside the folder of the task (RA-52)', async () => {
    const place = taskPlace();
    const secret = path.join(place.outside, 'secret.txt');
    writeFileSync(secret, 'secret');
    for (const file of ['../secret.txt', secret, 'downloads/../../secret.txt', 'a\0b']) {
      await expect(run(file, place), file).rejects.toMatchObject({ code: 'tool' });
    }
  });

  test('refuses a folder', async () => {
    await expect(run('downloads', taskPlace({ 'downloads/a': '' }))).rejects.toThrow('is a folder');
  });

  test('refuses garbage, naming the file', async () => {
    const garbage = Uint8Array.from({ length: 4000 }, (_, i) => (i * 7919 + (i >> 3)) % 256);
    const reply = run('a.bin', taskPlace({ 'a.bin': garbage }));
    await expect(reply).rejects.toMatchObject({ code: 'tool' });
    await expect(reply).rejects.toThrow('./a.bin');
  });
});

// One tool stands for all that read in a process of their own.
describe.each(readers.filter(({ name }) => name === 'read_excel'))('$name', ({ name, argumentsFor }) => {
  test('stops when the run ends', async () => {
    const controller = new AbortController();
    const place = taskPlace({ 'a.csv': 'a,b\n'.repeat(100_000) }, controller.signal);
    const tool = await toolNamed(name);
    const reply = tool.run(tool.input.parse(argumentsFor('a.csv')), place);
    controller.abort();
    await expect(reply).rejects.toThrow(/\.\/a\.csv was not (read|queried): the (run|task) has ended/);
  });
});
