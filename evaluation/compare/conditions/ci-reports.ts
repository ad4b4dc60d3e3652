import type { evaluateThreshold } from '../../statistics/thresholds.ts';
import { type Column, formatColumns, formatColumnsMarkdown } from '../../terminal/columns.ts';
import { escapeMarkdown } from '../../terminal/markdown-table.ts';
import { toOneLine } from '../../terminal/table.ts';
import type { ComparisonFile } from '../comparison-file.ts';
import { buildTables } from '../comparison-table.ts';
import {
  describeNullTest,
  describeOpen,
  describePlayed,
  formatEffect,
  formatInterval,
  formatName,
  formatVerdict,
} from '../comparison-text.ts';
import type { judgeChanges } from './conditions.ts';

type ThresholdResult = ReturnType<typeof evaluateThreshold>;

/**
 * Formats thresholds as a JUnit report, which CI servers read: one test case each, failed if its condition holds and skipped if the
 * measurement cannot tell. The format is that of Ant's junitreport, which has no standard but is accepted by all of them.
 */
export function formatJunit(
  { kind }: Pick<ComparisonFile, 'kind'>,
  results: readonly ThresholdResult[],
): string {
  const command = kind === 'teams' ? 'gaia' : 'compare';
  const of = (wanted: ThresholdResult['outcome']) =>
    results.filter(({ outcome }) => outcome === wanted).length;
  const [failures, skipped] = [of('failed'), of('cannot tell')];
  const cases = results.map(({ text, outcome, found }) => {
    const name = `    <testcase classname="gaia-mesh.${command}" name="${escapeXml(text)}"`;
    if (outcome === 'passed') return `${name}/>`;
    const element = outcome === 'failed' ? 'failure' : 'skipped';
    const message = escapeXml(outcome === 'failed' ? `${text}: ${found}` : `cannot tell: ${found}`);
    return `${name}>\n      <${element} message="${message}"/>\n    </testcase>`;
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites tests="${results.length}" failures="${failures}">`,
    `  <testsuite name="gaia-mesh ${command}" tests="${results.length}" failures="${failures}" errors="0" skipped="${skipped}">`,
    ...cases,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes a text for XML 1.0, which cannot represent most control characters. */
function escapeXml(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\uFFFE\uFFFF]/gu, ' ')
    .replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}

type SavedChange = ReturnType<typeof judgeChanges>[number];

interface Outcome {
  readonly conditions: readonly ThresholdResult[];
  /** Changes since the saved comparison; empty if there is none. */
  readonly changes: readonly SavedChange[];
}

const MARKS: Readonly<Record<ThresholdResult['outcome'], string>> = {
  failed: '❌ failed',
  passed: '✅ passed',
  'cannot tell': '❔ cannot tell',
};

const TITLES = {
  adapters: 'Adapters on the same packets',
  stacks: 'Stacks on the same exchanges',
  teams: 'Teams on the same questions',
} as const;

/** Formats a comparison as a comment on a pull request: the answer, the conditions, the changes, and how to repeat it. */
export function formatSummary(file: ComparisonFile, { conditions, changes }: Outcome): string {
  const names = file.arms.map(({ name }) => `\`${formatName(name)}\``).join(', ');
  const parts = [
    `### ${escapeMarkdown(`${TITLES[file.kind]}: ${names}`)}`,
    escapeMarkdown(file.sentence ?? describeOpen(file) ?? ''),
    ...file.warnings.map((warning) => `> Warning: ${escapeMarkdown(warning)}.`),
    conditions.length === 0 ? '' : formatColumnsMarkdown(conditionColumns, conditions),
    changes.length === 0
      ? ''
      : `Compared with the saved baseline:\n\n${formatColumnsMarkdown(createChangeColumns(file), changes)}`,
    buildTables(file).sections[0]?.tables[0]?.(formatColumnsMarkdown) ?? '',
    escapeMarkdown(`${describePlayed(file)}. ${describeNullTest(file)}.`),
    file.command === null ? '' : `To repeat it: \`${file.command.replaceAll(/[\s`]+/g, ' ')}\``,
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

const conditionColumns: readonly Column<ThresholdResult>[] = [
  {
    key: 'condition',
    header: 'condition to fail',
    value: ({ text }) => text,
    format: ({ text }) => toOneLine(text, 80),
  },
  {
    key: 'outcome',
    header: 'outcome',
    value: ({ outcome }) => outcome,
    format: ({ outcome }) => MARKS[outcome],
  },
  { key: 'found', header: 'found', value: ({ found }) => found, format: ({ found }) => found },
];

/** Creates the columns of the changes since the saved comparison, which has one row for each arm. */
function createChangeColumns({ kind }: Pick<ComparisonFile, 'kind'>): readonly Column<SavedChange>[] {
  const [counted, measured] = kind === 'teams' ? ['right', 'difference'] : ['bytes', 'time'];
  return [
    { key: 'arm', header: 'arm', value: ({ name }) => name },
    { key: `${counted}_then`, header: `${counted} then`, value: ({ before }) => before },
    { key: `${counted}_now`, header: `${counted} now`, value: ({ now }) => now },
    {
      key: `${measured}`,
      header: measured,
      value: ({ judged }) => judged && ('ratio' in judged ? judged.ratio : judged.difference),
      format: ({ judged }) => (judged === null ? '–' : formatEffect(judged)),
    },
    {
      key: `${measured}_low`,
      header: '95 %',
      value: ({ judged }) => judged?.low,
      format: ({ judged }) => (judged === null ? '–' : formatInterval(judged)),
    },
    {
      key: `${measured}_verdict`,
      header: 'verdict',
      value: ({ judged }) => judged?.verdict,
      format: ({ judged }) => (judged === null ? '–' : formatVerdict(judged)),
    },
  ];
}

/** Formats the changes since the saved comparison for a terminal. */
export function formatChanges(file: Pick<ComparisonFile, 'kind'>, changes: readonly SavedChange[]): string {
  return formatColumns(createChangeColumns(file), changes);
}
