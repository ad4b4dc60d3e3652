import type { ThresholdResult } from '../../statistics/thresholds.ts';
import { escapeMarkdown } from '../../terminal/markdown-table.ts';
import { count, formatDecimals, toOneLine } from '../../terminal/table.ts';
import { createTableView, formatMarkdown } from '../../terminal/table-view.ts';
import { formatInterval, formatVerdict } from '../verdict-text.ts';
import type { Compared } from './compared.ts';
import type { SavedChange } from './saved-baseline.ts';

interface Outcome {
  readonly conditions: readonly ThresholdResult[];
  /** Changes since the saved comparison; empty if there is none. */
  readonly changes: readonly SavedChange[];
  /** The command that repeats the comparison. */
  readonly command: string;
}

const MARKS: Readonly<Record<ThresholdResult['outcome'], string>> = {
  failed: '❌ failed',
  held: '✅ held',
  'cannot tell': '❔ cannot tell',
};

/** Formats a comparison as a comment on a pull request: the answer, the conditions, the changes, and how to repeat it. */
export function formatSummary({ said }: Compared, { conditions, changes, command }: Outcome): string {
  const { title, sentence, warnings, table, played } = said;
  const parts = [
    `### ${escapeMarkdown(title)}`,
    escapeMarkdown(sentence),
    ...warnings.map((warning) => `> Warning: ${escapeMarkdown(warning)}.`),
    formatConditionsTable(conditions),
    formatChangesTable(changes),
    formatMarkdown(table),
    escapeMarkdown(played),
    `To repeat it: \`${command.replaceAll(/[\s`]+/g, ' ')}\``,
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function formatConditionsTable(conditions: readonly ThresholdResult[]): string {
  if (conditions.length === 0) return '';
  return formatMarkdown(
    createTableView(
      ['condition to fail', 'outcome', 'found'],
      conditions.map(({ text, outcome, found }) => [toOneLine(text, 80), MARKS[outcome], found]),
    ),
  );
}

/** Formats the changes since the saved comparison, one row for each arm. */
function formatChangesTable(changes: readonly SavedChange[]): string {
  if (changes.length === 0) return '';
  const table = formatMarkdown(createTableView(CHANGE_TITLES, changes.map(formatChangeCells)));
  return `Compared with the saved baseline:\n\n${table}`;
}

export const CHANGE_TITLES = ['arm', '#bytes then', '#bytes now', '#time', '#95 %', 'verdict'];

export function formatChangeCells({ name, bytes, time }: SavedChange): string[] {
  return [
    toOneLine(name, 60),
    count(bytes.before),
    count(bytes.now),
    ...(time === null
      ? ['–', '–', '–']
      : [formatDecimals(time.ratio, 2), formatInterval(time), formatVerdict(time)]),
  ];
}
