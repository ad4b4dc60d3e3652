import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { EXIT, endToExitCode, statusToExitCode, toExitCode } from '@gaia-mesh/cli/command-line/exit-code.ts';
import { commands } from '@gaia-mesh/cli/commands.ts';
import { runCli } from '@gaia-mesh/cli/testing/cli.ts';
import { FAULT_LIMITS } from '@gaia-mesh/core/contracts/limits.ts';
import { EXAMPLES, parseFaults } from '@gaia-mesh/core/hub/faults/parse-faults.ts';
import { codeFolder } from '@gaia-mesh/core/system/package-root.ts';
import { testSwaps } from '@gaia-mesh/evaluation/statistics/answers/paired-answers.ts';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { formatMetricsPage } from './metrics-page.ts';

const docs = readdirSync(path.join(codeFolder, 'docs')).filter((name) => name.endsWith('.md'));
const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...docs.map((name) => `docs/${name}`)];
const text = (page: string) => readFileSync(path.join(codeFolder, page), 'utf8');

/** What stands in fenced blocks of one kind. */
function blocks(page: string, kind: string): string[] {
  return [...text(page).matchAll(new RegExp(`^\`\`\`${kind}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(
    ([, block = '']) => block.trim(),
  );
}

describe('docs/README.md', () => {
  test('leads to every page', () => {
    const index = text('docs/README.md');

    expect(docs.filter((name) => name !== 'README.md' && !index.includes(`](${name})`))).toEqual([]);
    expect(index.split('\n').length).toBeLessThanOrEqual(40);
  });
});

describe.each(pages)('%s', (page) => {
  const prose = text(page).replaceAll(/^```[\s\S]*?^```/gm, '');
  const links = [...prose.matchAll(/\]\((?!https?:)([^)\s]*)\)/g)].map(([, link = '']) => link);

  test('links to files and headings that are there', () => {
    const missing = links.filter((link) => {
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? page : path.posix.join(path.dirname(page), file);
      if (!existsSync(path.join(codeFolder, target))) return true;
      return anchor !== undefined && !anchors(text(target)).includes(anchor);
    });
    expect(missing).toEqual([]);
  });
});

/** Headings as GitHub names them. */
function anchors(page: string): string[] {
  return [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

test('commands in the pages take the options that they are given', async () => {
  const commands = pages.flatMap((page) =>
    [
      ...text(page).matchAll(/npm run (?:-s )?([a-z-]+ -- (?:gaps|blame)|[a-z-]+) (?:-- )?([^`\n#]*)/g),
    ].flatMap(([, name = '', args = '']) =>
      [...args.matchAll(/(?:^|\s)(--[a-z-]+)/g)].map(([, option = '']) => ({ name, option, page })),
    ),
  );
  const names = [...new Set(commands.map(({ name }) => name))];
  const { scripts } = z
    .object({ scripts: z.record(z.string(), z.string()) })
    .parse(JSON.parse(text('package.json')));
  const helps = await Promise.all(
    names.map(async (name) => {
      // A script without commands takes the options that its source names.
      const [, file] = /^node (\S+)$/.exec(scripts[name] ?? '') ?? [];
      if (file !== undefined) return { stdout: text(file) };
      const [script = '', ...subcommand] = name.split(' -- ');
      const [, entry = '', command = ''] = /node (\S+) (\S+)$/.exec(scripts[script] ?? '') ?? [];
      const args = [path.join(codeFolder, entry), command, ...subcommand, '--help', '--all'];
      return runCli(args, { program: process.execPath });
    }),
  );
  const known = new Map(
    names.map((name, index) => [name, new Set(helps[index]?.stdout.match(/--[a-z-]+/g))]),
  );

  expect(commands.length).toBeGreaterThan(50);
  expect(commands.filter(({ name, option }) => !known.get(name)?.has(option))).toEqual([]);
});

/** Names that a page tells its readers to import from the package. */
function listImports(page: string): { name: string; from: string; page: string }[] {
  const imports = [...text(page).matchAll(/^import (?:type )?\{([^}]*)\} from '(gaia-mesh[^']*)'/gm)];
  const sentences = [...text(page).matchAll(/((?:`\w+`(?:, | and ))*`\w+`) comes? from `(gaia-mesh[^`]*)`/g)];
  const split = (names: string) =>
    names.includes('`')
      ? [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => name)
      : names.split(',').map((name) => name.replace(/^\s*type /, '').trim());
  return [...imports, ...sentences].flatMap(([, names = '', from = '']) =>
    split(names).map((name) => ({ name, from, page })),
  );
}

/** Names that a module exports, also by `export *` from a package's public names. */
function listExports(file: string): string[] {
  const source = text(file);
  const stars = [...source.matchAll(/^export \* from '@gaia-mesh\/(\w+)'/gm)].map(
    ([, name = '']) => ({ stacks: 'protocols/stacks' })[name] ?? name,
  );
  const braces = [...source.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, names = '']) =>
    names.split(','),
  );
  const own = [...source.matchAll(/^export (?:async )?(?:function|const|class|interface|type) (\w+)/gm)];
  return [
    ...stars.flatMap((folder) => listExports(`${folder}/index.ts`)),
    ...braces.map((name) => name.trim().split(' ').at(-1) ?? ''),
    ...own.map(([, name = '']) => name),
  ];
}

test('what the pages tell readers to import is exported', () => {
  const files: Readonly<Record<string, string>> = {
    'gaia-mesh': 'scripts/library.ts',
    'gaia-mesh/contract': 'protocols/contract/suite.ts',
    'gaia-mesh/stack-contract': 'protocols/stacks/contract/suite.ts',
  };
  const named = pages.flatMap(listImports);
  expect(named.length).toBeGreaterThan(12);
  expect(named.filter(({ name, from }) => !listExports(files[from] ?? '').includes(name))).toEqual([]);
});

describe('docs/delivery.md', () => {
  const page = text('docs/delivery.md');
  const agents = ['search', 'extract', 'triple', 'reason'].map((tool, id) => ({ id: String(id), tool }));
  const inTable = [...page.matchAll(/^\| `[a-z]+`.*? \| `([^`]+)` \|/gm)].map(([, fault = '']) => fault);
  const inBlocks = blocks('docs/delivery.md', 'faults').flatMap((block) => block.split('\n'));
  const inCommands = [...page.matchAll(/--faults '([^']+)'/g)].map(([, faults = '']) => faults);

  test.each([...inTable, ...inBlocks, ...inCommands].map((fault) => fault.replaceAll('\\|', '|')))(
    'has an example that can be read: %s',
    (example) => {
      expect(parseFaults(example, agents)).not.toEqual([]);
    },
  );

  test('has an example of every fault, and the bounds', () => {
    const kinds = inTable.flatMap((fault) =>
      parseFaults(fault.replaceAll('\\|', '|'), agents).map(({ kind }) => kind),
    );
    expect([...new Set(kinds)].sort()).toEqual(Object.keys(EXAMPLES).sort());
    expect(page).toContain(`at most ${FAULT_LIMITS.timeMs / 1000}s`);
    expect(page).toContain(`at most ${FAULT_LIMITS.delayMs / 1000}s`);
    expect(page).toContain(`at most ${FAULT_LIMITS.faults} faults`);
  });

  test('quotes a refusal as it is printed', () => {
    const [, message = '', refused = ''] = /gaia-mesh: (faults: "([^"]+)".*) \(--faults\)$/m.exec(page) ?? [];

    expect(() => parseFaults(refused, agents)).toThrow(message);
  });
});

describe('docs/troubleshooting.md', () => {
  const outcomes = [...text('docs/troubleshooting.md').matchAll(/^\| (.+) \| (.+) \| (\d+) \|$/gm)].map(
    ([, outcome = '', who = '', code]) => ({ outcome, who, code: Number(code) }),
  );

  test('has an outcome for every exit code, and no other code', () => {
    expect([...new Set(outcomes.map(({ code }) => code))]).toEqual(Object.values(EXIT));
    expect(new Set(outcomes.map(({ outcome }) => outcome)).size).toBe(outcomes.length);
  });

  test.each<[string, number]>([
    ['Ctrl-C interrupted', toExitCode({ code: 'interrupted' })],
    ['Ctrl-C interrupted', endToExitCode({ kind: 'interrupted', reason: '' })],
    ['a limit ended the batch', endToExitCode({ kind: 'limit', reason: '' })],
    ['an option or an input file cannot be used', toExitCode({ code: 'usage' })],
    ['an option or an input file cannot be used', toExitCode({ code: 'config' })],
    ['a place cannot be used', toExitCode({ code: 'io' })],
    ['a place cannot be used', toExitCode({ code: 'locked' })],
    ['the model server is not there', toExitCode({ code: 'engine' })],
    ['an agent did not come up', toExitCode({ code: 'agent' })],
    ['a task failed', statusToExitCode('failed')],
    ['a task ran out of time', statusToExitCode('timeout')],
    ['the command did its work', statusToExitCode('answered')],
    ['every question ran out of its time or tokens', statusToExitCode('timeout')],
  ])('says how a command ends: %s with %i', (what, code) => {
    expect(outcomes.filter(({ outcome }) => outcome.includes(what)).map((row) => row.code)).toEqual([code]);
  });

  test('names commands that there are, and each one that has an exit code of its own', () => {
    const named = new Set(outcomes.flatMap(({ who }) => who.match(/(?<=`)[a-z-]+/g) ?? []));
    const names = commands.map(({ name }) => name);
    const setting = names.filter((name) =>
      ['', 'installation/'].some((folder) => {
        const file = `scripts/commands/${folder}${name}.ts`;
        return existsSync(path.join(codeFolder, file)) && text(file).includes('process.exitCode');
      }),
    );

    expect([...named].filter((name) => !names.includes(name))).toEqual([]);
    expect(setting.filter((name) => !named.has(name))).toEqual([]);
  });

  test('has all codes: commands set no other number', () => {
    const files = readdirSync(path.join(codeFolder, 'scripts'), { recursive: true, encoding: 'utf8' });
    const literal = /process\.exitCode [|?]*= \d|process\.exit\([1-9]/;
    const found = files.filter(
      // The process of an agent answers to its launcher.
      (name) =>
        /(?<!\.test)\.ts$/.test(name) &&
        name !== 'launched-agent.ts' &&
        literal.test(text(`scripts/${name}`)),
    );

    expect(found).toEqual([]);
  });

  /** All that commands can print, with `…` for what is filled in. */
  const sources = ['core', 'evaluation', 'protocols', 'tools', 'scripts']
    .flatMap((folder) =>
      readdirSync(path.join(codeFolder, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => /(?<!\.test)\.(?:ts|js)$/.test(name))
        .map((name) => text(path.join(folder, name))),
    )
    .join('\n')
    .replaceAll(/\$\{[^}]*\}/g, '…')
    .replaceAll('\\`', '`');
  /** What the code fills in, and the page has for its readers. */
  const FILLED_IN =
    /Ollama server|node-llama-cpp|any process of this machine| \(6 times\)| after 214 characters|127\.0\.0\.1|(?<=about )auth|(?<=has )(?:open|hmac)/g;

  test.each(blocks('docs/troubleshooting.md', 'message'))('quotes a message that there is: %s', (message) => {
    // What a colon or a semicolon joins may be written in two places.
    const parts = message.replaceAll(FILLED_IN, '…').split(/…|: |; /);
    const missing = parts.map((part) => part.trim()).filter((part) => !sources.includes(part));

    expect(missing).toEqual([]);
  });
});

test('docs/metrics.md says what the schemas say (npm run docs)', () => {
  expect(text('docs/metrics.md')).toBe(formatMetricsPage());
});

test('docs/reading-results.md says how many questions a verdict takes', () => {
  const rows = [
    ...text('docs/reading-results.md').matchAll(/^\| (\d+) \| (\d+) \| (\d+) points \| (\d+) points \|$/gm),
  ];
  const oneSided = (questions: number) =>
    testSwaps({
      attempts: 1,
      questions: Array.from({ length: questions }, () => ({ baseline: 0, other: 1 })),
    });

  expect(rows).toHaveLength(3);
  for (const [teams = 0, fewest = 0, ...points] of rows.map((row) => row.slice(1).map(Number))) {
    // Holm's correction demands the most of the clearest difference.
    expect(oneSided(fewest)).toBeLessThan(0.05 / teams);
    expect(oneSided(fewest - 1)).toBeGreaterThanOrEqual(0.05 / teams);
    expect(points).toEqual([72, 20].map((questions) => Math.round((100 * fewest) / questions)));
  }
});
