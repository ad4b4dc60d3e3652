import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { runCli } from '@gaia-mesh/cli/testing/cli.ts';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { temporaryFolder } from '@gaia-mesh/core/testing/temporary-folder.ts';
import { expect, test, vi } from 'vitest';

/** Commands of the pages that cannot run here, by what they need. */
const LEFT_OUT: readonly (readonly [string, RegExp])[] = [
  [
    'a server, a model or an account',
    /--engine (ollama|openai|anthropic|llama)|--base-url|--api |nats|:4318|:7700|postgres:|^tools .*npx|^model (install|test)/,
  ],
  [
    'files that the reader writes',
    /\.\/\w[\w-]*\.ts|my-adapter\.ts|docqa|(queue|numerals|my-team|with-files|first-sentence)\.yaml/,
  ],
  ['questions of the reader', /\b(q|questions|tasks|dev|metadata|session|mine|answers)\.jsonl/],
  ['an earlier batch or run', /gaia (-- )?(blame|gaps)|^(clean|prompt-test)|--replies|import|results\//],
  ['a person who ends it', /^(serve|view|agent|hub)\b/],
  ['the project itself', /^(build|claims|docs|fuzz|perf|results|test:|lab:)/],
  ['time: they are all of the others', /--stacks all|sdk,python,go/],
  ['arguments', /^(report|compare|gaia|doctor)$/],
];

const pages = ['README.md', ...readdirSync(path.join(codeFolder, 'docs')).map((name) => `docs/${name}`)];
const commands = new Set(
  pages
    .filter((page) => page.endsWith('.md'))
    .flatMap((page) => [
      ...readFileSync(path.join(codeFolder, page), 'utf8').matchAll(
        /npm run (?:-s )?([a-z][a-z:-]*(?: --)?[^`\n#]*)/g,
      ),
    ])
    .map(([, command = '']) => command.replace(' --', '').trim()),
);
const kept = [...commands].filter((command) => !LEFT_OUT.some(([, pattern]) => pattern.test(command)));

/** Time for a command on a busy machine: a comparison with many settings starts dozens of processes. */
const PATIENCE_MS = 900_000;
vi.setConfig({ testTimeout: PATIENCE_MS });

const folder = temporaryFolder();
const out = path.join(folder, 'out');
mkdirSync(out);

/** Splits a command line as a shell does, as far as the pages need it. */
function splitWords(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? '');
}

test('the pages have commands to run', () => {
  expect(kept.length).toBeGreaterThan(15);
});

test.each(['bench', ...kept.filter((command) => command !== 'bench')])('npm run %s', async (command) => {
  const [name = '', ...options] = splitWords(command);
  const budget = options.indexOf('--budget');
  if (budget >= 0) options.splice(budget, 2);
  const args = [
    name,
    ...options.map((word) => {
      if (['run_artifacts.tar.gz', 'comparison.json'].includes(word)) return path.join(out, word);
      return /^(README\.md|config\/)/.test(word) ? path.join(codeFolder, word) : word;
    }),
    // Results go to the test's folder, ports are free ones, and what measures does so once. The budget is not used up: it is long enough
    // for a busy machine to measure every arm.
    ...(['bench', 'logs', 'compare'].includes(name) ? ['--out', out] : []),
    ...(name === 'report' ? ['--out', path.join(folder, 'report.html')] : []),
    ...(name === 'gaia' ? ['--out', path.join(folder, 'answers.jsonl'), '--port-base', 'auto'] : []),
    ...(name === 'bench' ? ['--port-base', 'auto'] : []),
    ...(name === 'compare' ? ['--invocations', '1', '--rounds', '1', '--budget', '600'] : []),
  ];
  const { code, stderr } = await runCli(args, { cwd: folder, patienceMs: PATIENCE_MS });
  // A condition may fail in a measurement as short as this.
  const isMeasured = options.includes('--fail-if') && code === 1;
  expect(isMeasured || code === 0, `${code}: ${stderr}`).toBe(true);
  expect(stderr).not.toMatch(/^ +at |FAILED: (?!a2a)/m);
});
