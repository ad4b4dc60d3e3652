import path from 'node:path';

/** A figure of the sources that may fall and must not rise, by the name that `limits.json` has for it. */
type StyleFigures = Readonly<Record<(typeof FIGURES)[number], number>>;

export const FIGURES = [
  'headless_comments_percent',
  'prepositional_names_percent',
  'packing_spreads',
  'conditional_spreads',
  'exports',
  'small_single_importer_files',
  'import_cycles',
  'bad_commit_subjects',
] as const;

/** A source with the place of what is wrong in it. */
interface StyleFinding {
  readonly figure: (typeof FIGURES)[number];
  readonly text: string;
}

/** Comments that begin so have no subject: "Whether it is open" says less than "Returns true if it is open". */
const HEADLESS = /^(What|Who|Whoever|Whom|Whose|Whether|How|Which|Where|Of|The same)\b/;
const COMMENT = /\/\*\*[\s\S]*?\*\/|(?:^[ \t]*\/\/[^\n]*\n)+/gm;
const FUNCTION = /^(?:export )?(?:async )?function\*? ([A-Za-z0-9_]+)/gm;
/** Names that say a relation and no action. Verbs that end in such a word are fine: `readFrom`. */
const PREPOSITIONAL = /[a-z](Of|In|By|At|From|With)$/;
const VERB = /^(is|has|can|to|from|read|write|open|parse|find|sort|group)[A-Z]/;
const EXPORT = /^export (?!type \{|\{)/gm;
const PACKING_SPREAD = /\.\.\.\{ /g;
const CONDITIONAL_SPREAD = /\.\.\.\([^\n]*\? \{\}/g;
const IMPORT = /(?:from|import\(|import)\s*['"]((?:\.|@gaia-mesh\/)[^'"]+)['"]/g;
const SUBJECT = /^[a-z][a-z0-9/.-]*: [a-z]/;
const MAX_SUBJECT_CHARACTERS = 72;
/** A file below this many lines with one importer belongs into it, unless it is a plug-in or a process entry. */
const SMALL_LINES = 60;

/**
 * Measures the style of sources.
 *
 * @param sources texts by file, relative to the root, with `/`
 * @param folders the folder of each package by its name, such as `@gaia-mesh/core`
 * @param subjects of commits, the newest first
 * @returns the figures, and a line for each thing that they count
 */
export function measureStyle(
  sources: ReadonlyMap<string, string>,
  folders: ReadonlyMap<string, string>,
  subjects: readonly string[],
): { readonly figures: StyleFigures; readonly findings: readonly StyleFinding[] } {
  const findings: StyleFinding[] = [];
  let comments = 0;
  let functions = 0;
  let exported = 0;
  for (const [file, text] of sources) {
    const add = (figure: StyleFinding['figure'], found: string) =>
      findings.push({ figure, text: `${file}: ${found}` });
    for (const comment of readComments(text)) {
      comments += 1;
      if (isHeadless(comment)) add('headless_comments_percent', firstLine(comment));
    }
    for (const [, name = ''] of text.matchAll(FUNCTION)) {
      functions += 1;
      if (PREPOSITIONAL.test(name) && !VERB.test(name)) add('prepositional_names_percent', name);
    }
    for (const [found] of text.matchAll(PACKING_SPREAD)) add('packing_spreads', found);
    for (const [found] of text.matchAll(CONDITIONAL_SPREAD)) add('conditional_spreads', found);
    exported += [...text.matchAll(EXPORT)].length;
  }
  const imports = readImports(sources, folders);
  const importers = invert(imports);
  for (const [file, text] of sources) {
    const [importer, ...others] = importers.get(file) ?? [];
    if (importer !== undefined && others.length === 0 && countLines(text) <= SMALL_LINES)
      findings.push({ figure: 'small_single_importer_files', text: `${file}: only ${importer} imports it` });
  }
  for (const cycle of findCycles(imports))
    findings.push({ figure: 'import_cycles', text: cycle.join(' ↔ ') });
  for (const subject of subjects)
    if (subject.length > MAX_SUBJECT_CHARACTERS || !SUBJECT.test(subject))
      findings.push({ figure: 'bad_commit_subjects', text: subject });

  const count = (figure: StyleFinding['figure']) => findings.filter((each) => each.figure === figure).length;
  const percent = (figure: StyleFinding['figure'], total: number) =>
    total === 0 ? 0 : Math.round((count(figure) / total) * 1000) / 10;
  return {
    findings,
    figures: {
      headless_comments_percent: percent('headless_comments_percent', comments),
      prepositional_names_percent: percent('prepositional_names_percent', functions),
      packing_spreads: count('packing_spreads'),
      conditional_spreads: count('conditional_spreads'),
      exports: exported,
      small_single_importer_files: count('small_single_importer_files'),
      import_cycles: count('import_cycles'),
      bad_commit_subjects: count('bad_commit_subjects'),
    },
  };
}

/** Returns the words of each comment that begins with a letter. */
function readComments(text: string): string[] {
  return [...text.matchAll(COMMENT)]
    .map(([comment]) =>
      comment
        .replace(/^\s*\/\*\*|\*\/\s*$/g, '')
        .replace(/^\s*(?:\*|\/\/) ?/gm, '')
        .trim(),
    )
    .filter((words) => /^[A-Za-z]/.test(words));
}

/** A question is a sentence, whatever it begins with. */
function isHeadless(comment: string): boolean {
  return HEADLESS.test(comment) && !firstLine(comment).includes('?');
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}

function countLines(text: string): number {
  return text.split('\n').length - 1;
}

/** Returns the files that each file imports, types and dynamic imports included. */
function readImports(
  sources: ReadonlyMap<string, string>,
  folders: ReadonlyMap<string, string>,
): Map<string, Set<string>> {
  const imports = new Map<string, Set<string>>();
  for (const [file, text] of sources) {
    const targets = [...text.matchAll(IMPORT)].map(([, specifier = '']) =>
      resolveImport(file, specifier, folders),
    );
    imports.set(file, new Set(targets.filter((target) => sources.has(target) && target !== file)));
  }
  return imports;
}

function resolveImport(file: string, specifier: string, folders: ReadonlyMap<string, string>): string {
  if (specifier.startsWith('.')) return path.posix.join(path.posix.dirname(file), specifier);
  const name = specifier.split('/', 2).join('/');
  return path.posix.join(folders.get(name) ?? name, specifier.slice(name.length + 1));
}

function invert(imports: ReadonlyMap<string, ReadonlySet<string>>): Map<string, string[]> {
  const importers = new Map<string, string[]>();
  for (const [file, targets] of imports)
    for (const target of targets) importers.set(target, [...(importers.get(target) ?? []), file]);
  return importers;
}

/** Returns the sets of files that reach each other (Tarjan's strongly connected components of more than one file). */
function findCycles(imports: ReadonlyMap<string, ReadonlySet<string>>): string[][] {
  const order = new Map<string, number>();
  const stack: string[] = [];
  const open = new Set<string>();
  const cycles: string[][] = [];
  const visit = (file: string): number => {
    const index = order.size;
    let low = index;
    order.set(file, index);
    stack.push(file);
    open.add(file);
    for (const target of imports.get(file) ?? []) {
      const seen = order.get(target);
      if (seen === undefined) low = Math.min(low, visit(target));
      else if (open.has(target)) low = Math.min(low, seen);
    }
    if (low === index) {
      const cycle = stack.splice(stack.indexOf(file));
      for (const member of cycle) open.delete(member);
      if (cycle.length > 1) cycles.push(cycle);
    }
    return low;
  };
  for (const file of imports.keys()) if (!order.has(file)) visit(file);
  return cycles;
}
