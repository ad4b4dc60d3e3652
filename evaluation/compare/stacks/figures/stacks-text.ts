import { formatDecimals, toOneLine } from '../../../terminal/table.ts';
import { formatNullArm } from '../../verdict-text.ts';
import type { PairVerdict, StackArm } from './stacks-file.ts';

/** Display names of the figures with verdicts. */
export const FIGURE_NAMES = {
  latency_us: 'time',
  cpu_us: 'CPU time',
  saturated_us: 'time when saturated',
} as const satisfies Record<keyof StackArm['samples'], string>;

interface JudgedArm {
  readonly name: string;
  readonly vs_baseline: {
    readonly latency: VerdictLike | null;
    readonly cpu: VerdictLike | null;
  } | null;
}

/** A verdict as measured, with ∞, or as read from a file, with null. */
type VerdictLike = Pick<
  PairVerdict,
  'ratio' | 'low' | 'high' | 'margin' | 'detectable' | 'verdict' | 'needed' | 'nullArm'
>;

/**
 * Describes the result. A single pair is described with its verdict and interval; for several pairs, it counts the verdicts, and the table
 * has the pairs.
 */
export function describeStacks(baseline: string, arms: readonly JudgedArm[]): string {
  const others = arms.flatMap(({ name, vs_baseline }) =>
    vs_baseline === null ? [] : [{ name, ...vs_baseline }],
  );
  const [only] = others;
  if (only === undefined) return `${baseline} was measured alone.`;
  if (others.length === 1) {
    const time =
      only.latency === null
        ? `${only.name} did not keep up with the rate.`
        : formatPair(baseline, only.name, only.latency, FIGURE_NAMES.latency_us);
    return only.cpu === null
      ? time
      : `${time} ${formatPair(baseline, only.name, only.cpu, FIGURE_NAMES.cpu_us)}`;
  }
  const judged = others.map(({ latency }) => latency).filter((latency) => latency !== null);
  const counted = (verdict: string) => judged.filter((one) => one.verdict === verdict).length;
  const longer = judged.filter(({ verdict, ratio }) => verdict === 'different' && ratio > 1).length;
  const margin = formatDecimals((judged[0]?.margin ?? 0.05) * 100, 0);
  const counts: readonly (readonly [number, string])[] = [
    [longer, 'took longer'],
    [counted('different') - longer, 'took less time'],
    [counted('equivalent'), `took the same within ±${margin} %`],
    [counted('cannot tell'), 'cannot be told apart from it'],
    [others.length - judged.length, 'did not keep up with the rate'],
  ];
  const parts = counts.filter(([number]) => number > 0).map(([number, what]) => `${number} ${what}`);
  const itself = judged[0] === undefined ? '' : formatNullArm(judged[0], baseline).slice(1);
  return `Time of an exchange, ${others.length} stacks compared with ${baseline}: ${parts.join(', ')}.${itself === '' ? '' : ` For comparison, ${itself.trim()}.`}`;
}

/** Formats the verdict on a pair: `a2a/jsonrpc sdk takes 4.31 times the time of mesh/json bare (95 % interval 3.90–4.77).` */
export function formatPair(baseline: string, name: string, verdict: VerdictLike, what: string): string {
  const interval = `95 % interval ${formatInterval(verdict)}${formatNullArm(verdict, baseline)}`;
  switch (verdict.verdict) {
    case 'different':
      return `${name} takes ${formatDecimals(verdict.ratio, 2)} times the ${what} of ${baseline} (${interval}).`;
    case 'equivalent':
      return `${name} takes the same ${what} as ${baseline} within ±${formatDecimals(verdict.margin * 100, 0)} % (${interval}).`;
    case 'cannot tell':
      return `Cannot tell whether ${name} takes more or less ${what} than ${baseline}: ${formatDecimals(verdict.ratio, 2)} times (${interval})${formatNeeded(verdict)}.`;
  }
}

function formatNeeded({ needed, detectable }: VerdictLike): string {
  const shown =
    detectable === null || !Number.isFinite(detectable)
      ? ''
      : `; a factor of ${formatDecimals(detectable, 2)} could have been shown`;
  const more =
    needed === null || !Number.isFinite(needed) ? '' : `; about ${needed} invocations would give a verdict`;
  return shown + more;
}

/** Formats an interval: `1.02–1.19`. */
export function formatInterval({ low, high }: Pick<VerdictLike, 'low' | 'high'>): string {
  return high === null || !Number.isFinite(high)
    ? 'too few'
    : `${formatDecimals(low, 2)}–${formatDecimals(high, 2)}`;
}

/** Formats a ratio, and a mark if the verdict is not `different`. An interval, as in `1.31 (1.2–1.4)`, would not fit a column. */
export function formatVerdictRatio(verdict: VerdictLike | null): string {
  if (verdict === null) return '–';
  const digits = verdict.ratio < 10 ? 2 : 1;
  const mark = verdict.verdict === 'different' ? '' : verdict.verdict === 'equivalent' ? '=' : '?';
  return formatDecimals(verdict.ratio, digits) + mark;
}

export function formatName(name: string): string {
  return toOneLine(name, 60);
}
