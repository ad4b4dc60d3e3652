import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { taskPlace } from '@gaia-mesh/tools/files/testing/task-place.ts';
import { expect, it } from 'vitest';

// The bundle that the tests' global setup has made of these sources.
const bundle = path.join(codeFolder, 'dist');
const files = readdirSync(bundle).filter((name) => name.endsWith('.js'));

it('finds programs beside it and data files where they are in the sources', () => {
  const locations = files.flatMap((name) => [
    ...readFileSync(path.join(bundle, name), 'utf8').matchAll(
      /new URL\("(\.[^"]+)", import\.meta\.url\)|import\.meta\.dirname \+ "([^"]+)"/g,
    ),
  ]);
  expect(locations.length).toBeGreaterThan(10);
  for (const [, url, name] of locations) {
    const file = path.join(bundle, url ?? name ?? '');
    expect(existsSync(file), file).toBe(true);
  }
});

it('starts no program from its source', () => {
  const sources = files.flatMap((name) => [
    ...readFileSync(path.join(bundle, name), 'utf8').matchAll(
      /(?:fork|spawn|Worker)\([^;]*?"[^"]*\.ts", import\.meta\.url/g,
    ),
  ]);
  expect(sources).toEqual([]);
});

it.each([
  ['launched-agent', 12],
  ['bench', 16],
  ['hub', 12],
])('has what %s loads as it starts in at most %i files, and in them no HTTP and no NATS', (start, most) => {
  const reached = new Set(
    files.filter((file) => file.startsWith(`${start}-`) && /^.{8}\.js$/.test(file.slice(start.length + 1))),
  );
  const packages = new Set<string>();
  for (const file of reached) {
    const imports = readFileSync(path.join(bundle, file), 'utf8').matchAll(
      /^(?:import (?:.+ from )?|const .+ = .+getBuiltinModule\()"([^"]+)"\)?;$/gm,
    );
    for (const [, name = ''] of imports)
      (name.startsWith('./') ? reached : packages).add(name.replace('./', ''));
  }
  expect(reached.size).toBeGreaterThan(2);
  expect(reached.size).toBeLessThanOrEqual(most);
  expect([...packages]).toContain('node:net');
  expect([...packages].filter((name) => /http|nats|undici|express/.test(name))).toEqual([]);
});

it('reads files in confined processes of its own programs', async () => {
  const place = taskPlace({ 'a.csv': 'n\n1\n2\n' });
  const tool = pathToFileURL(path.join(bundle, 'tools.files.tables.query-table.js')).href;
  const script = path.join(place.outside, 'ask.mjs');
  writeFileSync(
    script,
    `import { queryTable } from ${JSON.stringify(tool)};
    const place = { ...${JSON.stringify({ ...place, signal: undefined })}, signal: new AbortController().signal };
    console.log((await queryTable.run({ file: 'a.csv', sql: 'SELECT sum(n) FROM t1' }, place)).text);`,
  );
  const { stdout } = await promisify(execFile)(process.execPath, [script]);
  expect(stdout).toContain('./a.csv: sum(n) = 3 (integer)');
});
