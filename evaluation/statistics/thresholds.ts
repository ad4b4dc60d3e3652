import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { isWithinNull } from './nested-samples.ts';

/** Figures that are the same in every run, so one run decides a condition. */
const EXACT = ['bytes', 'header'] as const;
/** Figures that vary: a condition holds if the whole interval of the ratio lies beyond its bound. */
const MEASURED = ['time', 'cpu', 'first', 'saturated', 'right'] as const;
type ExactMetric = (typeof EXACT)[number];
type MeasuredMetric = (typeof MEASURED)[number];

/** The metrics of each kind of arms. */
const METRICS = {
  adapters: [...EXACT, 'time', 'cpu', 'first'],
  stacks: [...EXACT, 'time', 'cpu', 'first', 'saturated'],
  teams: ['right'],
} as const satisfies Readonly<Record<string, readonly (ExactMetric | MeasuredMetric)[]>>;

/** Stands in place of an arm for the same arm in the saved comparison. */
export const SAVED = 'saved';

const HOLDS = {
  '>': (left: number, right: number) => left > right,
  '>=': (left: number, right: number) => left >= right,
  '<': (left: number, right: number) => left < right,
  '<=': (left: number, right: number) => left <= right,
} as const;
type Operator = keyof typeof HOLDS;

/** A condition under which a comparison fails, from `--fail-if`. */
interface Threshold {
  /** As the user wrote it. */
  text: string;
  arm: string;
  metric: ExactMetric | MeasuredMetric;
  operator: Operator;
  /** Numerator and denominator of the number: 2.5 is 25 / 10, so figures exactly at a bound are compared exactly. */
  numerator: number;
  denominator: number;
  /** The arm whose figure of the same metric the number multiplies, or {@link SAVED}; null if the number itself is the limit. */
  times: string | null;
}

/**
 * Figures that conditions are evaluated on. For a figure that was not measured, both methods throw a MeshError `usage` or return undefined.
 */
export interface ThresholdFigures {
  readonly arms: readonly string[];
  /** Returns an exact figure of an arm; `isSaved` selects the saved comparison. */
  exact(arm: string, metric: ExactMetric, isSaved: boolean): number | undefined;
  /** Returns the ratio of `arm` to `times` (to one unit for null), with its 95 % interval. */
  measured(arm: string, metric: MeasuredMetric, times: string | null): MeasuredRatio | undefined;
}

interface MeasuredRatio {
  readonly ratio: number;
  readonly low: number;
  /** ∞ if there are too few samples for an interval. */
  readonly high: number;
  /** True if the ratio was shown to lie within 1 / (1 + margin) to 1 + margin. */
  readonly isEquivalent: boolean;
  readonly margin: number;
  /** The interval of the baseline against itself, where it was measured. */
  readonly nullArm?: { readonly low: number; readonly high: number } | undefined;
}

/** `failed`: the condition holds, so the run fails. `cannot tell`: the measurement supports neither outcome, so the run does not fail. */
type ThresholdOutcome = 'failed' | 'passed' | 'cannot tell';

interface ThresholdResult {
  text: string;
  outcome: ThresholdOutcome;
  /** The measured result in words: `23265 against 46530`, or a ratio with its interval. */
  found: string;
}

const GRAMMAR =
  /^(?<arm>[^\s<>=]+)\.(?<metric>\w+)\s*(?<operator>[<>]=?)\s*(?<whole>\d{1,12})(?:\.(?<decimals>\d{1,6}))?(?:\s*x\s+(?<times>[^\s<>=]+))?$/;

/**
 * Parses `<arm>.<metric> <op> <number>[x <arm>]`, e.g. `a2a.bytes > 2.5x json`, or `json.time > 1.1x saved` for a comparison with a saved
 * one. Units are bytes, microseconds of one pass of the recording, and percent of right answers of teams.
 *
 * @param arms the arms that will be measured, if that is known
 * @param kind their kind, which decides about the metrics
 * @throws MeshError `usage` for anything else, and for an arm or a metric that will not be measured
 */
export function parseThreshold(
  text: string,
  arms?: readonly string[],
  kind?: keyof typeof METRICS,
): Threshold {
  const metrics = kind === undefined ? [...EXACT, ...MEASURED] : METRICS[kind];
  const parts = GRAMMAR.exec(text.trim())?.groups;
  if (parts === undefined) throw createMisreadError(text, metrics);
  const { arm = '', whole = '', decimals = '', times = null } = parts;
  const metric = metrics.find((name) => name === parts.metric);
  const operator = parts.operator;
  if (metric === undefined) throw createMisreadError(text, metrics, `; there is no metric ${parts.metric}`);
  if (!isOperator(operator)) throw createMisreadError(text, metrics);
  const threshold: Threshold = {
    text,
    arm,
    metric,
    operator,
    numerator: Number(whole + decimals),
    denominator: 10 ** decimals.length,
    times,
  };
  if (arms !== undefined) checkArms(threshold, arms);
  return threshold;
}

function checkArms({ text, arm, times }: Threshold, arms: readonly string[]): void {
  for (const named of times === null || times === SAVED ? [arm] : [arm, times]) {
    if (arms.includes(named)) continue;
    throw new MeshError(
      'usage',
      `--fail-if '${text}': expected one of the arms ${arms.join(', ')}; got ${named}`,
    );
  }
}

/**
 * Evaluates a condition: exact figures are compared to the unit; measured ones decide only if their interval lies wholly on one side of the
 * bound.
 */
export function evaluateThreshold(threshold: Threshold, figures: ThresholdFigures): ThresholdResult {
  const { metric } = threshold;
  // An arm that failed is not among the measured ones.
  checkArms(threshold, figures.arms);
  return isMeasured(metric)
    ? evaluateInterval(threshold, metric, figures)
    : evaluateUnit(threshold, metric, figures);
}

function evaluateUnit(threshold: Threshold, metric: ExactMetric, figures: ThresholdFigures): ThresholdResult {
  const { text, arm, operator, numerator, denominator, times } = threshold;
  const known = (figure: number | undefined, of: string) => {
    if (figure !== undefined && Number.isFinite(figure)) return figure;
    throw new MeshError('usage', `--fail-if '${text}': ${of} has no figure for ${metric}`);
  };
  const left = known(figures.exact(arm, metric, false), arm);
  const unit =
    times === null
      ? 1
      : times === SAVED
        ? known(figures.exact(arm, metric, true), `${arm} as it was saved`)
        : known(figures.exact(times, metric, false), times);
  const isFailed = HOLDS[operator](left * denominator, numerator * unit);
  return {
    text,
    outcome: isFailed ? 'failed' : 'passed',
    found: `${left} against ${(numerator * unit) / denominator}`,
  };
}

/**
 * Evaluates a condition by the interval that the table shows, 95 % two-sided, so a condition at the true ratio fails in at most 2.5 % of
 * measurements. If the arms were shown to be equivalent, a bound inside the margin is not crossed: such a difference counts as none. If
 * ratio and bound both lie within the interval of the baseline against itself, the measurement supports neither outcome.
 */
function evaluateInterval(
  threshold: Threshold,
  metric: MeasuredMetric,
  figures: ThresholdFigures,
): ThresholdResult {
  const { text, arm, operator, numerator, denominator, times } = threshold;
  const measured = figures.measured(arm, metric, times);
  if (measured === undefined) {
    throw new MeshError('usage', `--fail-if '${text}': there is no figure for ${metric}`);
  }
  const { ratio, low, high, isEquivalent, margin, nullArm } = measured;
  const bound = numerator / denominator;
  const shown = (value: number) => (value === Infinity ? '∞' : String(Number(value.toPrecision(4))));
  const isRatio = times !== null;
  const isNoDifference = isRatio && isEquivalent && Math.abs(Math.log(bound)) < Math.log1p(margin);
  const holdsAt = (value: number) => HOLDS[operator](value, bound);
  const isNoise =
    isRatio && nullArm !== undefined && isWithinNull(ratio, nullArm) && isWithinNull(bound, nullArm);
  const outcome = isNoDifference
    ? 'passed'
    : isNoise
      ? 'cannot tell'
      : holdsAt(low) && holdsAt(high)
        ? 'failed'
        : !holdsAt(low) && !holdsAt(high)
          ? 'passed'
          : 'cannot tell';
  const interval =
    high === Infinity && low === 0
      ? 'too few samples for an interval'
      : `95 % interval ${shown(low)}–${shown(high)}`;
  const unit = isRatio ? ` times ${times}` : metric === 'right' ? ' %' : ' µs';
  const itself =
    isRatio && nullArm !== undefined && nullArm.high !== Infinity
      ? `; the baseline against itself ${shown(nullArm.low)}–${shown(nullArm.high)}`
      : '';
  return { text, outcome, found: `${shown(ratio)}${unit} (${interval}${itself}) against ${bound}` };
}

function isMeasured(metric: Threshold['metric']): metric is MeasuredMetric {
  return MEASURED.some((name) => name === metric);
}

function isOperator(text: string | undefined): text is Operator {
  return text !== undefined && Object.hasOwn(HOLDS, text);
}

function createMisreadError(text: string, metrics: readonly Threshold['metric'][], detail = ''): MeshError {
  const example = metrics.some((metric) => metric === 'bytes')
    ? 'a2a.bytes > 2.5x json'
    : 'react.right < 1x single';
  return new MeshError(
    'usage',
    `--fail-if: expected '<arm>.<${metrics.join('|')}> <${Object.keys(HOLDS).join('|')}> <number>[x <arm>]', ` +
      `e.g. '${example}'; got '${text}'${detail}`,
  );
}
