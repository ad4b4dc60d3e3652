import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { describe, expect, test } from 'vitest';

// A registry of its own: tests of other files in this process may have added a user's tools to theirs.
const registry = `${pathToFileURL(path.join(codeFolder, 'tools', 'registry.ts')).href}?fresh`;
const { toolNames }: { toolNames: readonly string[] } = await import(registry);

const text = (file: string) => readFileSync(path.join(codeFolder, file), 'utf8');

/** Packages of the project, and those that the bundle holds. */
const NOT_PUBLISHED = /^(@gaia-mesh\/|gpt-tokenizer$|rolldown$|@opentelemetry\/sdk-trace$)/;

interface Manifest {
  readonly name: string;
  readonly workspaces: readonly string[];
  readonly dependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
}

const manifestOf = (folder: string): Manifest => JSON.parse(text(path.join(folder, 'package.json')));

/** Files of TypeScript below a folder, tests or all others. */
function filesIn(folder: string, { tests }: { readonly tests: boolean }): string[] {
  return readdirSync(path.join(codeFolder, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && /\.test\.ts$|(?:^|\/)testing\//.test(name) === tests)
    .map((name) => path.join(folder, name));
}

/** Tools by these names there are, too; in the hub they are fields of what came of a task. */
const FIELDS = ['answer', 'reason'];

test('the hub names no tool: it delivers, counts and keeps time (MP-13)', () => {
  const hub = filesIn('core/hub', { tests: false });
  expect(hub.length).toBeGreaterThan(10);
  const named = hub.flatMap((file) =>
    toolNames
      .filter((tool) => !FIELDS.includes(tool))
      .filter((tool) => new RegExp(`['"\`]${tool}(?:\\.call|\\.result)?['"\`]`).test(text(file)))
      .map((tool) => `${file}: ${tool}`),
  );
  expect(named).toEqual([]);
});

describe('the tree', () => {
  test.each([
    'core/hub/mesh-network.ts',
    'core/agent/agent.ts',
    'core/contracts/adapter.ts',
    'protocols/json.ts',
    'tools/registry.ts',
    'scripts/commands/bench.ts',
    'scripts/commands/evaluate.ts',
    'config/default.yaml',
    'docs/architecture.md',
  ])('has %s where the layout wants it (MP-72)', (file) => {
    expect(existsSync(path.join(codeFolder, file))).toBe(true);
  });

  test('has packages that depend on those below them only, as the map lists them (MP-72)', () => {
    const { workspaces, dependencies, peerDependencies } = manifestOf('.');
    const packages = workspaces.map((folder) => manifestOf(folder));
    const names = packages.map(({ name }) => name);
    for (const [index, { name, dependencies: needed = {} }] of packages.entries()) {
      const own = Object.keys(needed).filter((each) => each.startsWith('@gaia-mesh/'));
      expect(
        own.filter((each) => names.indexOf(each) >= index || names.indexOf(each) < 0),
        name,
      ).toEqual([]);
    }
    // What is published is one bundle: its manifest names what all packages need.
    const published = packages.filter(({ name }) => name !== '@gaia-mesh/lab');
    const outside = (lists: readonly (Record<string, string> | undefined)[]) =>
      Object.fromEntries(
        lists.flatMap((list = {}) => Object.entries(list).filter(([name]) => !NOT_PUBLISHED.test(name))),
      );
    expect(dependencies).toEqual(outside(published.map((each) => each.dependencies)));
    expect(peerDependencies).toMatchObject(outside(published.map((each) => each.peerDependencies)));
  });

  test.each(['core', 'protocols', 'protocols/stacks', 'evaluation'])(
    'has at most 25 public names in %s/index.ts',
    (folder) => {
      const names = [
        ...text(path.join(folder, 'index.ts')).matchAll(/^export (?:type )?\{([^}]+)\}/gm),
      ].flatMap(([, list = '']) => list.split(',').filter((name) => name.trim() !== ''));
      expect(names.length).toBeGreaterThan(1);
      expect(names.length).toBeLessThanOrEqual(25);
    },
  );

  test.each(['workspaces/', 'downloads/', 'agent_cache.json', 'agent_run_*.log', '.env', 'runs/'])(
    'leaves %s out of version control (RA-51, MP-72)',
    (pattern) => {
      expect(text('.gitignore').split('\n')).toContain(pattern);
    },
  );
});

test('every tool is a module of its own, and a test names it or imports it (REQ-079)', () => {
  const registries = text('tools/registry.ts') + text('tools/data-tools.ts');
  const moduleOf = (tool: string) => {
    const [, entry = ''] = registries.split(new RegExp(`^ {2}${tool}: \\{`, 'm'));
    return /import\('\.\/([^']+)'\)/.exec(entry)?.[1];
  };
  const tests = ['tools', 'evaluation', 'scripts']
    .flatMap((folder) => filesIn(folder, { tests: true }))
    .map(text)
    .join('\n');
  const isTested = (tool: string, file: string) =>
    tests.includes(`'${tool}'`) || tests.includes(`/${path.basename(file)}'`);

  expect(toolNames.length).toBeGreaterThan(40);
  expect(
    toolNames.filter((tool) => !existsSync(path.join(codeFolder, 'tools', moduleOf(tool) ?? '-'))),
  ).toEqual([]);
  expect(toolNames.filter((tool) => !isTested(tool, moduleOf(tool) ?? ''))).toEqual([]);
});
