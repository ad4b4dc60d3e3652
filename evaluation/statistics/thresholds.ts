import { MeshError } from '../../core/contracts/errors.ts';

const METRICS = ['bytes', 'time', 'tokens', 'header'] as const;
type Metric = (typeof METRICS)[number];

const HOLDS = {
  '>': (left: number, right: number) => left > right,
  '>=': (left: number, right: number) => left >= right,
  '<': (left: number, right: number) => left < right,
  '<=': (left: number, right: number) => left <= right,
} as const;
type Operator = keyof typeof HOLDS;

/** A condition under which a comparison fails, from `--fail-if`. */
export interface Threshold {
  /** As the user wrote it. */
  text: string;
  arm: string;
  metric: Metric;
  operator: Operator;
  /** The number as a fraction of whole numbers: 2.5 is 25 / 10, so that figures exactly at a bound are compared exactly. */
  numerator: number;
  denominator: number;
  /** The arm whose figure of the same metric the number multiplies; null where the number is the limit itself. */
  times: string | null;
}

/** Figures by arm; an arm lacks the metrics that it does not have (a binary adapter has no tokens). */
type ThresholdTable = Readonly<Record<string, Readonly<Partial<Record<Metric, number>>>>>;

export interface ThresholdResult {
  text: string;
  /** Whether the condition holds, and the run therefore fails. */
  failed: boolean;
  left: number;
  right: number;
}

const GRAMMAR =
  /^(?<arm>[^\s<>=]+)\.(?<metric>\w+)\s*(?<operator>[<>]=?)\s*(?<whole>\d{1,12})(?:\.(?<decimals>\d{1,6}))?(?:\s*x\s+(?<times>[^\s<>=]+))?$/;

/** Reads `<arm>.<metric> <op> <number>[x <arm>]`, e.g. `a2a.bytes > 2.5x json`. Units: bytes, microseconds, tokens. */
export function parseThreshold(text: string): Threshold {
  const parts = GRAMMAR.exec(text.trim())?.groups;
  if (parts === undefined) throw misread(text);
  const { arm = '', whole = '', decimals = '', times = null } = parts;
  const metric = METRICS.find((name) => name === parts.metric);
  const operator = parts.operator;
  if (metric === undefined) throw misread(text, `; there is no metric ${parts.metric}`);
  if (!isOperator(operator)) throw misread(text);
  return {
    text,
    arm,
    metric,
    operator,
    numerator: Number(whole + decimals),
    denominator: 10 ** decimals.length,
    times,
  };
}

/** Whether a threshold holds in a table of results. */
export function evaluateThreshold(threshold: Threshold, table: ThresholdTable): ThresholdResult {
  const { text, arm, metric, operator, numerator, denominator, times } = threshold;
  const left = figureOf(table, arm, metric, text);
  const unit = times === null ? 1 : figureOf(table, times, metric, text);
  return {
    text,
    failed: HOLDS[operator](left * denominator, numerator * unit),
    left,
    right: (numerator * unit) / denominator,
  };
}

function figureOf(table: ThresholdTable, arm: string, metric: Metric, text: string): number {
  const figures = Object.hasOwn(table, arm) ? table[arm] : undefined;
  if (figures === undefined) {
    const arms = Object.keys(table).join(', ');
    throw new MeshError('usage', `--fail-if '${text}': expected one of the arms ${arms}; got ${arm}`);
  }
  const figure = figures[metric];
  if (figure === undefined || !Number.isFinite(figure)) {
    throw new MeshError('usage', `--fail-if '${text}': ${arm} has no figure for ${metric}`);
  }
  return figure;
}

function isOperator(text: string | undefined): text is Operator {
  return text !== undefined && Object.hasOwn(HOLDS, text);
}

function misread(text: string, detail = ''): MeshError {
  return new MeshError(
    'usage',
    `--fail-if: expected '<arm>.<${METRICS.join('|')}> <${Object.keys(HOLDS).join('|')}> <number>[x <arm>]', ` +
      `e.g. 'a2a.bytes > 2.5x json'; got '${text}'${detail}`,
  );
}
