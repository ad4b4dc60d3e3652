import type { StacksComparison, Verdict } from '../../compare/comparison-file.ts';
import {
  formatDetectable,
  formatInterval,
  formatMargin,
  formatName,
  METRIC_NAMES,
} from '../../compare/verdict-text.ts';
import { count } from '../../terminal/table.ts';
import { createTableView, type TableView } from '../../terminal/table-view.ts';
import type { RatioView } from '../comparison/comparison-view.ts';
import { bindNumbers, formatRatio } from '../wording.ts';

type Figure = 'time' | 'cpu' | 'saturated';

const FIGURES = [
  { figure: 'time', name: METRIC_NAMES.time, longer: 'slower', shorter: 'faster' },
  { figure: 'cpu', name: METRIC_NAMES.cpu, longer: 'more', shorter: 'less' },
  { figure: 'saturated', name: METRIC_NAMES.saturated, longer: 'slower', shorter: 'faster' },
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

export function buildPairsView(file: StacksComparison): PairsView {
  const equal = 1 + file.margin;
  return {
    baseline: formatName(file.baseline),
    equal: { low: 1 / equal, high: equal, text: formatMargin(file) },
    figures: FIGURES.flatMap((words) => {
      const pairs = listPairs(file, words.figure);
      if (pairs.length === 0) return [];
      return [
        {
          name: words.name,
          finding: bindNumbers(countVerdicts(file, words, pairs)),
          ratios: pairs.map(({ name, judged }) => buildRatioView(name, judged, words)),
          table: buildPairsTable(pairs, words),
        },
      ];
    }),
  };
}

interface Pair {
  readonly name: string;
  readonly judged: Verdict;
  readonly isNull: boolean;
}

/** In the order in which they were asked for, and the baseline against itself first: a list, and no ranking. */
function listPairs({ arms, baseline, null_test }: StacksComparison, figure: Figure): Pair[] {
  const again = null_test[figure];
  return [
    ...(again === null ? [] : [{ name: `${formatName(baseline)} again`, judged: again, isNull: true }]),
    ...arms.flatMap(({ name, vs_baseline }) => {
      const judged = vs_baseline?.[figure];
      return judged === null || judged === undefined
        ? []
        : [{ name: formatName(name), judged, isNull: false }];
    }),
  ];
}

type Words = (typeof FIGURES)[number];

function nameVerdict({ verdict, ratio, margin }: Verdict, { longer, shorter }: Words): string {
  switch (verdict) {
    case 'different':
      return ratio > 1 ? longer : shorter;
    case 'equivalent':
      return `equal ${formatMargin({ margin })}`;
    case 'cannot tell':
      return 'cannot tell';
  }
}

function buildRatioView(label: string, judged: Verdict, words: Words): RatioView {
  const { ratio, low, high } = judged;
  const verdict = nameVerdict(judged, words);
  return {
    label,
    ratio,
    low,
    high,
    verdict,
    detects: formatDetectable(judged),
    isDetected: judged.verdict === 'different',
    text: `${formatRatio(ratio)} ${verdict}`,
  };
}

function buildPairsTable(pairs: readonly Pair[], words: Words): TableView {
  return createTableView(
    ['', '#ratio', '#95 % interval', '#detects', 'verdict', '#invocations', '#would tell'],
    pairs.map(({ name, judged, isNull }) => [
      name,
      formatRatio(judged.ratio),
      formatInterval(judged),
      formatDetectable(judged),
      nameVerdict(judged, words) + (isNull ? ' (null test)' : ''),
      count(judged.invocations),
      judged.verdict !== 'cannot tell' || judged.needed === null ? '–' : count(judged.needed),
    ]),
  );
}

/** Counts the pairs by verdict; the chart below shows them. */
function countVerdicts({ baseline, arms }: StacksComparison, words: Words, pairs: readonly Pair[]): string {
  const verdicts = Map.groupBy(
    pairs.filter(({ isNull }) => !isNull),
    ({ judged }) => nameVerdict(judged, words),
  );
  const parts = [...verdicts].map(
    ([verdict, own]) => `${own.length} ${verdict === 'cannot tell' ? 'cannot be told' : verdict}`,
  );
  const silent = arms.length - 1 - pairs.filter(({ isNull }) => !isNull).length;
  if (silent > 0) parts.push(`${silent} did not keep up with the rate`);
  const name = `${words.name[0]?.toUpperCase()}${words.name.slice(1)}`;
  return `${name} of an exchange against ${formatName(baseline)}: ${parts.join(', ')}`;
}
