import { attributeRatio, type Cell, TOGETHER } from '../../../statistics/attribution.ts';
import { MIN_INVOCATIONS } from '../../../statistics/levels.ts';
import type { Column } from '../../../terminal/columns.ts';
import { formatDecimals } from '../../../terminal/table.ts';
import type { Samples, StacksComparison } from '../../comparison-file.ts';
import { formatInterval, formatName, METRIC_NAMES } from '../../verdict-text.ts';
import type { ArmFigures } from './arm-figures.ts';

type Attributed = StacksComparison['attributions'][number];
type Share = Attributed['shares'][number];

const FIGURES = ['time', 'cpu', 'saturated'] as const;
/** Probability of wrongly blaming any factor of an arm, in any of the figures. */
const ALPHA = 0.01 / FIGURES.length;

/**
 * Attributes each arm's difference from the baseline to protocol, transport, implementation and settings. It does so if several of them
 * differ and the arms in between separate some of them. JSON's null is ∞.
 */
export function attributeArms(arms: Parameters<typeof cellsOf>[0], margin: number) {
  return FIGURES.flatMap((figure) => {
    const cells = cellsOf(arms, figure);
    const baseline = cells.find(({ name }) => name === arms[0]?.name);
    if (baseline === undefined || baseline.samples.length < MIN_INVOCATIONS) return [];
    return cells.flatMap((cell) => {
      const changed = Object.keys(cell.levels).filter((name) => cell.levels[name] !== baseline.levels[name]);
      if (changed.length < 2) return [];
      const attributed = attributeArm(cells, baseline, cell, figure, margin);
      return attributed.shares.length < 2 ? [] : [attributed];
    });
  });
}

function attributeArm(
  cells: readonly ArmCell[],
  baseline: ArmCell,
  { name, levels }: ArmCell,
  figure: Attributed['figure'],
  margin: number,
) {
  const { total, shares, method } = attributeRatio(
    cells,
    { from: baseline.levels, to: levels },
    margin,
    ALPHA,
  );
  return {
    arm: name,
    figure,
    method,
    total: { ratio: total.ratio, low: total.low, high: total.high },
    shares: shares.map(({ factor, from, to, share, verdict }) => ({
      factor,
      from,
      to,
      verdict,
      share: { ratio: share.ratio, low: share.low, high: share.high },
    })),
  };
}

/** Formats an attribution: `a2a/jsonrpc sdk, CPU time 3.10 times: implementation bare → sdk 1.70 (1.62–1.79), …` */
export function formatAttribution({ arm, figure, total, shares }: Attributed): string {
  const parts = shares.map(({ factor, from, to, share, verdict }) => {
    const shown = `${factor} ${from} → ${to} ${formatDecimals(share.ratio, 2)} (${formatInterval(share)})`;
    return verdict === 'contributes' ? shown : `${shown}, ${verdict}`;
  });
  return `${arm}, ${METRIC_NAMES[figure]} ${formatDecimals(total.ratio, 2)} times: ${parts.join('; ')}`;
}

/** Mark behind a share: `=` is shown to be within the margin, `?` is undecided. */
const MARKS = { contributes: '', 'no share': '=', 'cannot tell': '?' } as const;

/**
 * Lists the columns of a figure's causes: one column for each factor, and one for factors that only changed together. A row is an arm.
 */
export function listCauseColumns(own: readonly Attributed[]): Column<Attributed>[] {
  const factors = [...new Set(own.flatMap(({ shares }) => shares.map(({ factor }) => factor)))].toSorted(
    (a, b) => a.split(TOGETHER).length - b.split(TOGETHER).length || (a < b ? -1 : 1),
  );
  const [first] = own;
  return [
    { key: 'arm', header: 'stack', value: ({ arm }) => arm },
    {
      key: 'total_ratio',
      header: `${METRIC_NAMES[first?.figure ?? 'time']} ×`,
      value: ({ total }) => total.ratio,
      digits: 2,
      explain: 'all changes together, as a multiple of the baseline',
    },
    ...factors.map((factor): Column<Attributed> => {
      const find = ({ shares }: Attributed) => shares.find((share) => share.factor === factor);
      return {
        key: factor,
        header: formatName(factor),
        value: (row) => find(row)?.share.ratio,
        format: (row) => formatFactorShare(find(row)),
        explain: 'the ratio that this change causes, with its 95 % interval',
      };
    }),
  ];
}

function formatFactorShare(own: Share | undefined): string {
  if (own === undefined) return '';
  return `${formatDecimals(own.share.ratio, 2)}${MARKS[own.verdict]} (${formatInterval(own.share)})`;
}

/** Level of a factor that an arm's stack lacks. */
const NONE = 'none';

/** An arm as a cell of a factorial design. */
interface ArmCell extends Cell {
  readonly name: string;
}

type Measured = Pick<
  ArmFigures,
  | 'name'
  | 'stack'
  | 'protocol'
  | 'transport'
  | 'implementation'
  | 'client'
  | 'server'
  | 'levels'
  | 'samples_us'
>;

/**
 * Converts the arms to cells for an attribution. Every cell has all factors, and no two cells have the same levels: stacks of one protocol
 * on one transport, such as `a2a/jsonrpc` and `a2a/rest`, are distinguished by their names. An arm that lacks the figure, such as the time
 * at a rate that it did not keep up with, gives no cell.
 */
export function cellsOf(arms: readonly Measured[], figure: keyof Samples): ArmCell[] {
  const factors = new Set(arms.flatMap(({ levels }) => Object.keys(levels)));
  const none = Object.fromEntries([...factors].map((factor) => [factor, NONE]));
  const protocolOf = createProtocolNamer(arms);
  const isMixed = arms.some(({ client, server }) => client !== server);
  return arms.flatMap((arm) => {
    const { name, transport, implementation, client = implementation, server = implementation } = arm;
    const { levels, samples_us } = arm;
    const ends = isMixed ? { client, server } : { implementation };
    const own = samples_us[figure];
    const all = { protocol: protocolOf(arm), transport, ...ends, ...none, ...levels };
    return own.length === 0 ? [] : [{ name, levels: all, samples: own }];
  });
}

/** Creates a function that returns an arm's protocol, or its stack's name if other stacks have the same protocol and transport. */
function createProtocolNamer(arms: readonly Measured[]): (arm: Measured) => string {
  const named = Map.groupBy(arms, ({ protocol, transport }) => `${protocol} ${transport}`);
  return ({ protocol, transport, stack }) => {
    const names = new Set((named.get(`${protocol} ${transport}`) ?? []).map((arm) => arm.stack));
    return names.size > 1 ? stack : protocol;
  };
}
