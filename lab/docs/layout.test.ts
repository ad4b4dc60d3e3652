import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { codeFolder } from '../../core/system/package-root.ts';
import { toolNames } from '../../tools/registry.ts';

const text = (file: string) => readFileSync(path.join(codeFolder, file), 'utf8');

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

  test.each([
    ['core', /^core\//],
    ['protocols', /^(?:core|protocols)\//],
    ['tools', /^(?:core|evaluation\/store|tools)\//],
  ])('has %s know nothing of what is above it (MP-72)', (folder, known) => {
    const strangers = filesIn(folder, { tests: false }).flatMap((file) =>
      [...text(file).matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)]
        .map(([, target = '']) => path.join(path.dirname(file), target))
        .filter((target) => !known.test(target))
        .map((target) => `${file} → ${target}`),
    );
    expect(strangers).toEqual([]);
  });

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
