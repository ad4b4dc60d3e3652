import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { sampleArchive } from '@gaia-mesh/evaluation/report/testing/sample-archive.ts';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { runProgram } from '../../command-line/program.ts';
import { commands } from '../../commands.ts';
import { takePort, temporaryFolder } from '../../testing/cli.ts';
import { writtenFile } from '../../testing/team-file.ts';

/**
 * Every command with places that do not do: what the user or the machine causes ends with a sentence and an exit code, never with a
 * stack trace. The commands run in this process, as they end before they start any other.
 */

const folder = temporaryFolder();
const QUESTIONS = writtenFile(
  folder,
  'q.jsonl',
  '{"task_id":"a","question":"What is 2 + 2?","answer":"4"}\n',
);
const TASKS = writtenFile(
  folder,
  't.jsonl',
  '{"task_id":"a","question":"What?","document":"Ida.","answer":"Ida"}\n',
);
const WTQ = writtenFile(folder, 'w.jsonl', '{"id":"a","question":"q","table":"t","answers":["1"]}\n');
const ARCHIVE = await sampleArchive();

interface Place {
  readonly name: string;
  /** The place, or undefined where this machine cannot have it. */
  readonly path: string | undefined;
}

function fullDisk(): string | undefined {
  const place = path.join(folder, 'full');
  mkdirSync(place);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', place], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  try {
    writeFileSync(path.join(place, 'rest'), Buffer.alloc(1024 * 1024));
  } catch {
    // It is full now.
  }
  return place;
}

const full = fullDisk();
afterAll(() => {
  if (full !== undefined) execFileSync('umount', ['-l', full]);
});

const isLinux = process.platform === 'linux';
const FILE: Place = { name: 'a file', path: writtenFile(folder, 'file', 'text') };
const FOLDER: Place = { name: 'a folder', path: path.join(folder, 'folder') };
mkdirSync(FOLDER.path ?? '');
const MISSING: Place = { name: 'nothing', path: path.join(folder, 'no', 'such') };
const FORBIDDEN: Place = { name: 'no permission', path: isLinux ? '/sys/gaia-mesh' : undefined };
const BELOW_FILE: Place = { name: 'a file as a folder', path: path.join(folder, 'file', 'below') };
const LOOP: Place = { name: 'a link to itself', path: path.join(folder, 'loop') };
symlinkSync('loop', LOOP.path ?? '');
const FULL: Place = { name: 'a full disk', path: full };
const FULL_FILE: Place = { name: 'a file on a full disk', path: full && path.join(full, 'file') };

const OUT_FOLDER = [FILE, BELOW_FILE, FORBIDDEN, FULL];
const OUT_FILE = [FOLDER, BELOW_FILE, FORBIDDEN, FULL_FILE];
const IN_FILE = [FOLDER, MISSING, BELOW_FILE, LOOP];
const IN_FOLDER = [MISSING, BELOW_FILE];

const P = '@';
const table: readonly (readonly [string, readonly Place[]])[] = [
  [`bench --out ${P}`, OUT_FOLDER],
  [`bench --tasks ${TASKS} --out ${P}`, OUT_FOLDER],
  [`bench --team ${P}.yaml`, [MISSING, BELOW_FILE]],
  [`bench --task ${P}`, [...IN_FOLDER, FILE]],
  [`bench --tasks ${P}`, IN_FILE],
  [`bench --document ${P} --question x`, IN_FILE],
  [`bench --replies ${P} --engine recorded`, IN_FILE],
  [`bench --adapter ${P}.ts`, [MISSING, BELOW_FILE]],
  [`bench --tool extract=${P}.ts`, [MISSING, BELOW_FILE]],
  [`bench --engine ${P}.ts`, [MISSING, BELOW_FILE]],
  [`gaia --questions ${QUESTIONS} --team single --out ${P}`, OUT_FILE],
  [`gaia --questions ${QUESTIONS} --team single --store ${P}`, [FOLDER, BELOW_FILE, FORBIDDEN]],
  [`gaia --questions ${QUESTIONS} --team single --store ${P}/store`, [FORBIDDEN, FULL]],
  [`gaia --questions ${QUESTIONS} --files ${P}`, [...IN_FOLDER, FILE]],
  [`gaia --questions ${P}`, IN_FILE],
  [`gaia --format wtq --questions ${WTQ} --tables ${P}`, IN_FILE],
  [`gaia blame a --out ${P}`, IN_FILE],
  [`gaia gaps --store ${P}`, [MISSING, FOLDER, BELOW_FILE]],
  [`compare --out ${P} --invocations 1 --adapters json`, OUT_FOLDER.slice(0, 3)],
  [`compare --recording ${P}`, IN_FILE],
  [`compare --baseline ${P}`, IN_FILE],
  [`report ${P}`, IN_FILE],
  [`report ${ARCHIVE} --out ${P}`, OUT_FILE],
  [`export ${P} --as perfetto`, IN_FILE],
  [`export ${ARCHIVE} --as perfetto --out ${P}`, OUT_FILE],
  [`import ${P} --out ${path.join(folder, 'imported')}`, IN_FILE],
  [`import ${QUESTIONS} --out ${P}`, OUT_FILE],
  [`view ${P}`, IN_FOLDER],
  [`logs --out ${P}`, [...IN_FOLDER, FILE, FOLDER]],
  [`clean --yes --out ${P}`, [FILE]],
  [`evaluate --scorer gaia --input ${P}`, IN_FILE],
  [`conformance ${P}.ts`, [MISSING, BELOW_FILE]],
  [`prompt-test planner --with ${P}`, IN_FILE],
  [`serve --team ${P}.yaml`, [MISSING, BELOW_FILE]],
];

const cases = table.flatMap(([line, places]) =>
  places.map(({ name, path: place }) => ({ line: line.replaceAll(folder, '…'), name, args: line, place })),
);

/** Runs a command in this process. */
async function run(args: readonly string[]): Promise<{ code: unknown; output: string }> {
  let output = '';
  for (const stream of ['stdout', 'stderr'] as const)
    vi.spyOn(process[stream], 'write').mockImplementation((text) => {
      output += String(text);
      return true;
    });
  const was = process.exitCode;
  process.exitCode = 0;
  try {
    await runProgram({ name: 'gaia-mesh', description: 'x', commands }, args);
    return { code: process.exitCode, output };
  } finally {
    process.exitCode = was;
    vi.restoreAllMocks();
  }
}

test.each([
  ['view', (port: number) => `view ${FOLDER.path} --port ${port}`],
  ['serve', (port: number) => `serve --recording ${ARCHIVE} --mcp --port ${port}`],
])('%s on a port that is in use says so, with 1 as bench and agent do', async (_, line) => {
  const taken = await takePort();
  const { code, output } = await run(line(taken.port).split(' '));
  await taken.free();
  expect(code).toBe(1);
  expect(output).toMatch(/^gaia-mesh: .*\bport \d+ .*is in use: choose another/m);
});

test.each([
  [['bench', '--out', ''], "option '--out <"],
  [['gaia', '--questions', ''], "option '--questions <"],
  [['compare', '--recording', ''], "option '--recording <"],
  [['report', ''], "argument '"],
])(
  '%j has an empty value, which would mean the current folder, and is refused by its name',
  async (line, named) => {
    const { code, output } = await run(line);
    expect(code).toBe(2);
    expect(output).toMatch(/^error: .* is empty: give it a value, or leave it out/m);
    expect(output).toContain(named);
  },
);

describe('a place that does not do', () => {
  test.each(cases)('$line where there is $name ends with a sentence', async ({ args, place, name }) => {
    if (place === undefined) {
      console.warn(`skipped: this machine has no place with ${name}`);
      return;
    }
    const { code, output } = await run(args.split(' ').map((word) => word.replace(P, place)));
    expect(output).not.toMatch(/^ +at |Error:|\[object|(?<!received )undefined/m);
    // The words of the system have a code in front, and name the place twice.
    expect(output).not.toMatch(/\bE[A-Z]{3,}: /);
    expect(output).toMatch(/^(gaia-mesh: |error: option '--(store|out) ).{20,}/m);
    expect([1, 2]).toContain(code);
  });
});
