import type { Styles } from '@gaia-mesh/evaluation/terminal/style.ts';
import { count, formatTable } from '@gaia-mesh/evaluation/terminal/table.ts';
import { diffLines } from './line-diff.ts';
import type { TriedFixture } from './try-prompt.ts';

/** One fixture with both prompts. */
export interface Pair {
  readonly fixture: string;
  readonly old: TriedFixture;
  readonly new: TriedFixture;
}

interface Passed {
  readonly old: number;
  readonly new: number;
}

export function countPassed(pairs: readonly Pair[]): Passed {
  const passed = (side: 'old' | 'new') => pairs.filter((pair) => pair[side].faults.length === 0).length;
  return { old: passed('old'), new: passed('new') };
}

/** What a person reads: who passed, what the others lack, and how the replies differ. */
export function formatPromptReport(prompt: string, pairs: readonly Pair[], styles: Styles): string {
  const passed = countPassed(pairs);
  const tokens = (side: 'old' | 'new') => count(pairs.reduce((sum, pair) => sum + pair[side].tokens, 0));
  const rows = [
    [prompt, 'old', 'new'],
    ...pairs.map((pair) => [escapeText(pair.fixture), formatVerdict(pair.old), formatVerdict(pair.new)]),
    ['passed', `${passed.old} of ${pairs.length}`, `${passed.new} of ${pairs.length}`],
    ['tokens', tokens('old'), tokens('new')],
  ];
  return [formatTable(rows), ...pairs.map((pair) => formatDetails(pair, styles))].join('\n\n');
}

function formatVerdict({ faults }: TriedFixture): string {
  return faults.length === 0 ? 'passed' : 'failed';
}

function formatDetails(pair: Pair, styles: Styles): string {
  const faults = (['old', 'new'] as const).flatMap((side) =>
    pair[side].faults.map((fault) => styles.yellow(`  ${side} reply: ${escapeText(fault)}`)),
  );
  const diff =
    pair.old.reply === pair.new.reply
      ? [styles.dim('  the replies are the same')]
      : diffLines(pair.old.reply, pair.new.reply).map(({ kind, text }) => {
          if (kind === 'same') return styles.dim(`    ${escapeText(text)}`);
          return kind === 'old'
            ? styles.red(`  - ${escapeText(text)}`)
            : styles.green(`  + ${escapeText(text)}`);
        });
  return [styles.bold(escapeText(pair.fixture)), ...faults, ...diff].join('\n');
}

/** What models say must not drive the terminal. */
function escapeText(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}]/gu, ' ');
}
