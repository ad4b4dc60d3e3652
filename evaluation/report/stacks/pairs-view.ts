import type { PairVerdict, StacksFile } from '../../compare/stacks/figures/stacks-file.ts';
import { FIGURE_NAMES, nameText } from '../../compare/stacks/figures/stacks-text.ts';
import { detectableText, intervalText, marginText } from '../../compare/verdict-text.ts';
import { count } from '../../terminal/table.ts';
import { type TableView, tableView } from '../../terminal/table-view.ts';
import type { RatioView } from '../comparison/comparison-view.ts';
import { bound, ratioText } from '../wording.ts';

type Figure = 'latency' | 'cpu' | 'saturated';

const FIGURES = [
  { figure: 'latency', name: FIGURE_NAMES.latency_us, longer: 'slower', shorter: 'faster' },
  { figure: 'cpu', name: FIGURE_NAMES.cpu_us, longer: 'more', shorter: 'less' },
  { figure: 'saturated', name: FIGURE_NAMES.saturated_us, longer: 'slower', shorter: 'faster' },
] as const satisfies readonly { readonly figure: Figure; [word: string]: string }[];

/** Every arm against the baseline, in each of the three figures that have verdicts. */
export interface PairsView {
  readonly baseline: string;
  readonly figures: readonly {
    readonly name: string;
    readonly finding: string;
    readonly ratios: readonly RatioView[];
    readonly table: TableView;
  }[];
  /** Ratios that count as equal. */
  readonly equal: { readonly low: number; readonly high: number; readonly text: string };
}

export function pairsView(file: StacksFile): PairsView {
  const equal = 1 + file.margin;
  return {
    baseline: nameText(file.baseline),
    equal: { low: 1 / equal, high: equal, text: marginText(file) },
    figures: FIGURES.flatMap((words) => {
      const pairs = pairsOf(file, words.figure);
      if (pairs.length === 0) return [];
      return [
        {
          name: words.name,
          finding: bound(findingOf(file, words, pairs)),
          ratios: pairs.map(({ name, judged }) => ratioView(name, judged, words)),
          table: pairsTable(pairs, words),
        },
      ];
    }),
  };
}

interface Pair {
  readonly name: string;
  readonly judged: PairVerdict;
  readonly isNull: boolean;
}

/** In the order in which they were asked for, and the baseline against itself first: a list, and no ranking. */
function pairsOf({ arms, baseline, null_test }: StacksFile, figure: Figure): Pair[] {
  const again = null_test[figure];
  return [
    ...(again === null ? [] : [{ name: `${nameText(baseline)} again`, judged: again, isNull: true }]),
    ...arms.flatMap(({ name, vs_baseline }) => {
      const judged = vs_baseline?.[figure];
      return judged === null || judged === undefined ? [] : [{ name: nameText(name), judged, isNull: false }];
    }),
  ];
}

type Words = (typeof FIGURES)[number];

function wordOf({ verdict, ratio, margin }: PairVerdict, { longer, shorter }: Words): string {
  switch (verdict) {
    case 'different':
      return ratio > 1 ? longer : shorter;
    case 'equivalent':
      return `equal ${marginText({ margin })}`;
    case 'cannot tell':
      return 'cannot tell';
  }
}

function ratioView(label: string, judged: PairVerdict, words: Words): RatioView {
  const { ratio, low, high } = judged;
  const verdict = wordOf(judged, words);
  return {
    ...{ label, ratio, low, high, verdict },
    detects: detectableText(judged),
    isDetected: judged.verdict === 'different',
    text: `${ratioText(ratio)} ${verdict}`,
  };
}

function pairsTable(pairs: readonly Pair[], words: Words): TableView {
  return tableView(
    ['', '#ratio', '#95 % interval', '#detects', 'verdict', '#invocations', '#would tell'],
    pairs.map(({ name, judged, isNull }) => [
      name,
      ratioText(judged.ratio),
      intervalText(judged),
      detectableText(judged),
      wordOf(judged, words) + (isNull ? ' (null test)' : ''),
      count(judged.invocations),
      judged.verdict !== 'cannot tell' || judged.needed === null ? '–' : count(judged.needed),
    ]),
  );
}

/** How many pairs got which verdict; which ones is in the chart below. */
function findingOf({ baseline, arms }: StacksFile, words: Words, pairs: readonly Pair[]): string {
  const verdicts = Map.groupBy(
    pairs.filter(({ isNull }) => !isNull),
    ({ judged }) => wordOf(judged, words),
  );
  const parts = [...verdicts].map(
    ([verdict, own]) => `${own.length} ${verdict === 'cannot tell' ? 'cannot be told' : verdict}`,
  );
  const silent = arms.length - 1 - pairs.filter(({ isNull }) => !isNull).length;
  if (silent > 0) parts.push(`${silent} did not keep up with the rate`);
  const name = `${words.name[0]?.toUpperCase()}${words.name.slice(1)}`;
  return `${name} of an exchange against ${nameText(baseline)}: ${parts.join(', ')}`;
}
