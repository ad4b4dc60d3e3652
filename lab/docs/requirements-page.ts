import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** A line of the specification, as `lab/docs/requirements.md` has it. */
interface Requirement {
  readonly id: string;
  readonly text: string;
}

interface RequirementTests extends Requirement {
  /** Tests that name the id in their title: file and title. */
  readonly tests: readonly { readonly file: string; readonly title: string }[];
}

const ID = /\b(?:MP|SV|RA|OV|REQ)-\d+[a-g]?\b/g;
/** Ranges of ids as people write them in titles: RA-07..10, OV-18 to OV-21. */
const RANGE = /\b(MP|SV|RA|OV|REQ)-(\d+)\s*(?:\.\.|…|to|–|-)\s*(?:\1-)?(\d+)\b/g;
const SOURCE_FOLDERS = ['core', 'protocols', 'tools', 'evaluation', 'config', 'scripts', 'lab'];

/** Returns the page with a new third column, which names the tests of each requirement, and the requirements without any. */
export function fillRequirementsPage(root: string, page: string) {
  const requirements = findRequirementTests(root, page);
  const open = requirements.filter(({ tests }) => tests.length === 0).map(({ id }) => id);
  return { page: withTests(page, requirements), requirements: requirements.length, open };
}

function findRequirementTests(root: string, page: string): RequirementTests[] {
  const byId = new Map<string, { file: string; title: string }[]>();
  for (const file of listTestFiles(root)) {
    for (const title of findTitles(readFileSync(path.join(root, file), 'utf8'))) {
      for (const id of findIds(title)) {
        const tests = byId.get(id) ?? [];
        tests.push({ file, title });
        byId.set(id, tests);
      }
    }
  }
  return parseRequirements(page).map((requirement) => ({
    ...requirement,
    tests: byId.get(requirement.id) ?? [],
  }));
}

function withTests(page: string, requirements: readonly RequirementTests[]): string {
  const byId = new Map(requirements.map((requirement) => [requirement.id, requirement]));
  return page
    .split('\n')
    .map((line) => {
      const [, id = '', text = ''] = line.split(' | ').length >= 3 ? splitRow(line) : [];
      const found = byId.get(id);
      return found === undefined ? line : `| ${id} | ${text} | ${formatTestsCell(found)} |`;
    })
    .join('\n');
}

/** Maximum files shown; for more, readers search the tests for the id. */
const SHOWN_FILES = 2;

/**
 * Formats the files of the tests, whose titles name the id. The file's name without its folder keeps the table narrow.
 */
function formatTestsCell({ tests }: RequirementTests): string {
  const files = [...new Set(tests.map(({ file }) => file))];
  if (files.length === 0) return '–';
  const shown = files
    .slice(0, SHOWN_FILES)
    .map(
      (file) =>
        `[${path.basename(file).replace(/(?:\.test)?\.ts$/, '')}](../../${file.replaceAll(path.sep, '/')})`,
    );
  const more = files.length - shown.length;
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

function parseRequirements(page: string): Requirement[] {
  return page.split('\n').flatMap((line) => {
    const [, id, text] = splitRow(line);
    return id !== undefined && text !== undefined && /^(?:MP|SV|RA|OV|REQ)-\d+[a-g]?$/.test(id)
      ? [{ id, text }]
      : [];
  });
}

/** Splits a row into its cells, with an empty one before the first. */
function splitRow(line: string): string[] {
  return line.startsWith('| ') ? line.split('|').map((cell) => cell.trim()) : [];
}

function listTestFiles(root: string): string[] {
  return SOURCE_FOLDERS.flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.test.ts') || file.endsWith('contract.ts'))
      .map((file) => path.join(folder, file)),
  ).sort();
}

/** Finds the titles of tests and of their groups. */
function findTitles(source: string): string[] {
  const call =
    /\b(?:test|it|describe)(?:\.\w+(?:\((?:[^()]|\([^()]*\))*\))?)*\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/gs;
  const each = /[\]),]\s*\)\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/gs;
  return [call, each].flatMap((pattern) => [...source.matchAll(pattern)].map(([, , title = '']) => title));
}

function findIds(title: string): Set<string> {
  const ids = new Set(title.match(ID) ?? []);
  for (const [, prefix = '', first = '', last = ''] of title.matchAll(RANGE)) {
    for (let number = Number(first); number <= Number(last); number++) {
      ids.add(`${prefix}-${String(number).padStart(first.length, '0')}`);
    }
  }
  // In "RA-30–34, 38, 40", numbers after a comma belong to the id before it.
  for (const [, prefix = '', first = '', rest = ''] of title.matchAll(
    /\b(MP|SV|RA|OV|REQ)-(\d+)(?:[–-]\d+)?((?:,\s*\d+)+)\b/g,
  )) {
    for (const number of rest.match(/\d+/g) ?? []) ids.add(`${prefix}-${number.padStart(first.length, '0')}`);
  }
  return ids;
}
