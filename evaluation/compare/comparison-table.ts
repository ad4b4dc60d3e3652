import { explainColumns, formatColumns, formatColumnsMarkdown } from '../terminal/columns.ts';
import type { MeasuredPart } from '../terminal/docs-page.ts';
import { escapeMarkdown } from '../terminal/markdown-table.ts';
import { createStyles } from '../terminal/print.ts';
import { wrapText } from '../terminal/table.ts';
import { buildAdapterTables } from './adapters/adapter-columns.ts';
import type { ComparisonTables } from './arm-columns.ts';
import type { ComparisonFile } from './comparison-file.ts';
import {
  describeNullTest,
  describeOpen,
  describePlayed,
  describeTaskShare,
  formatMargin,
  listAbsences,
} from './comparison-text.ts';
import { buildStackTables } from './stacks/figures/stack-columns.ts';
import { buildTeamTables } from './teams/team-columns.ts';

/** Builds the tables of a comparison; those without rows are left out. */
export function buildTables(file: ComparisonFile): ComparisonTables {
  const tables = buildAllTables(file);
  return { ...tables, sections: tables.sections.filter((section) => section.tables.length > 0) };
}

function buildAllTables(file: ComparisonFile): ComparisonTables {
  switch (file.kind) {
    case 'adapters':
      return buildAdapterTables(file);
    case 'stacks':
      return buildStackTables(file);
    case 'teams':
      return buildTeamTables(file);
  }
}

/** Formats the comparison for a terminal. */
export function formatComparison(file: ComparisonFile): string {
  const { bold, dim, yellow } = createStyles(process.stdout);
  const { sections, legend } = buildTables(file);
  const listTables = (at: (typeof sections)[number]['at']) =>
    sections
      .filter((own) => own.at === at)
      .flatMap(({ tables }) => tables.flatMap((own) => ['', own(formatColumns)]));
  const [sentence, ...findings] = listFindings(file);
  const shown = listTables('top');
  const equal = file.kind === 'teams' ? '' : `; equal: within ${formatMargin(file)}`;
  const detects = shown.some((table) => table.includes('detects'))
    ? `; detects: the smallest ${file.kind === 'teams' ? 'difference that as many questions' : 'ratio that this many processes'} would show in four of five measurements`
    : '';
  return [
    ...shown,
    '',
    ...(sentence === undefined ? [] : [bold(wrapText(sentence))]),
    ...findings.map(wrapText),
    ...file.warnings.map((warning) => yellow(wrapText(`Warning: ${warning}.`))),
    ...listAbsences(file).map(wrapText),
    dim(wrapText(`${describePlayed(file)}. ${describeNullTest(file)}.`)),
    dim(wrapText(`${legend}${equal}${detects}`)),
    ...listTables('bottom'),
    '',
  ].join('\n');
}

/** Formats the comparison as a Markdown file. */
export function formatComparisonMarkdown(file: ComparisonFile): string {
  const { body, limits } = buildComparisonPart(file);
  const shown = limits.map((limit) => `- ${escapeMarkdown(limit)}`).join('\n');
  return `${body}\n\n## What these numbers cannot tell\n\n${shown}\n`;
}

/** Builds the measured part of `docs/results/comparison.md` and `stacks.md`. */
export function buildComparisonPart(file: ComparisonFile): MeasuredPart {
  const absent = listAbsences(file);
  const played = describePlayed(file);
  const { sections, limits } = buildTables(file);
  const shown = sections.map(({ heading, tables, note }) =>
    [
      `## ${heading}`,
      ...tables.map((own) => own(formatColumnsMarkdown)),
      escapeMarkdown([note, ...tables.map((own) => own(explainColumns))].join(' ').trim()),
    ]
      .filter((part) => part !== '')
      .join('\n\n'),
  );
  const said = [
    ...listFindings(file),
    ...file.warnings.map((warning) => `Warning: ${warning}.`),
    `The null test: ${describeNullTest(file)}.`,
  ];
  return {
    facts:
      file.kind === 'adapters'
        ? `team ${file.team}, engine ${file.engine}, ${file.agents} agents; ${played}`
        : played,
    limits,
    body: [
      ...said.map(escapeMarkdown),
      ...shown,
      ...(absent.length === 0
        ? []
        : [`## Not measured\n\n${absent.map((line) => `- ${escapeMarkdown(line)}`).join('\n')}`]),
    ].join('\n\n'),
  };
}

/** Lists the sentences below the tables: the verdicts, the effort for those that are missing, and what the choice affects. */
function listFindings(file: ComparisonFile): string[] {
  // The sentence on a single pair has its own effort.
  const open = file.arms.length === 2 ? null : describeOpen(file);
  return [file.sentence, open, file.kind === 'adapters' ? describeTaskShare(file) : null].filter(
    (sentence) => sentence !== null,
  );
}
