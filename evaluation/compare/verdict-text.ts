import { formatDecimals, toOneLine } from '../terminal/table.ts';
import type { ComparedAdapter, JudgedPair } from './comparison-file.ts';

/** Names of adapters that one sentence can hold. */
const MAX_NAMED = 12;

interface VerdictFacts {
  readonly baseline: string;
  readonly invocations: number;
  readonly elapsed_ms: number;
  readonly adapters: readonly Pick<ComparedAdapter, 'adapter' | 'vs_baseline'>[];
}

/**
 * Describes the result for someone who has to choose: one verdict for each pair, with its ratio and interval. Returns null if no pair has a
 * verdict. A single pair is always described, with the effort that a missing verdict would take.
 */
export function formatVerdicts(file: VerdictFacts): string | null {
  const { baseline, adapters } = file;
  const pairs = adapters.flatMap(({ adapter, vs_baseline }) =>
    vs_baseline === null ? [] : [{ name: toOneLine(adapter, 40), time: vs_baseline.time }],
  );
  const base = toOneLine(baseline, 40);
  const [only] = pairs;
  if (only !== undefined && pairs.length === 1) return formatPair(only, base, file);
  const told = pairs.filter(({ time }) => time.verdict !== 'cannot tell').slice(0, MAX_NAMED);
  const open = pairs.filter(({ time }) => time.verdict === 'cannot tell').map(({ name }) => name);
  if (told.length === 0) return null;
  const parts = told.map(({ name, time }) => `${name} is ${formatVerdict(time)} (${formatRatio(time)})`);
  const rest = open.length === 0 ? [] : [`cannot tell for ${joinNames(open)}`];
  const itself = only === undefined ? '' : formatNullArm(only.time, base).replace(/^; (.*)$/, ' ($1)');
  return `Task time against ${base}${itself}: ${[...parts, ...rest].join('; ')}.`;
}

function formatPair(
  { name, time }: { name: string; time: JudgedPair },
  baseline: string,
  file: Pick<VerdictFacts, 'invocations' | 'elapsed_ms'>,
): string {
  const figures = `${formatDecimals(time.ratio, 2)} times its task time (95 % interval ${formatInterval(time)}${formatNullArm(time, baseline)})`;
  switch (time.verdict) {
    case 'different':
      return `${name} is ${formatVerdict(time)} than ${baseline}: ${figures}.`;
    case 'equivalent':
      return `${name} is as fast as ${baseline} within ${formatMargin(time)}: ${figures}.`;
    case 'cannot tell': {
      const least = formatDetectable(time);
      const shown = least === '–' ? '' : `; a factor of ${least} would have been shown`;
      return `Cannot tell whether ${name} is faster or slower than ${baseline}: ${figures}${shown}. ${formatNeeded(time, file)}`;
    }
  }
}

/** Formats the baseline against itself, which a difference has to exceed; empty where it was shown to be equal, or not measured. */
export function formatNullArm(
  { nullArm, margin }: Pick<JudgedPair, 'nullArm' | 'margin'>,
  baseline: string,
): string {
  if (nullArm === undefined || nullArm.high === null || !Number.isFinite(nullArm.high)) return '';
  if (Math.max(nullArm.high, 1 / nullArm.low) <= 1 + margin) return '';
  return `; ${baseline} against itself ${formatDecimals(nullArm.ratio, 2)}, ${formatInterval(nullArm)}`;
}

/** Formats the effort that a verdict would take: `About 24 invocations would give a verdict: --invocations 24 --budget 90.` */
export function formatNeeded(
  { needed, nullArm }: Pick<JudgedPair, 'needed' | 'nullArm'>,
  { invocations, elapsed_ms }: Pick<VerdictFacts, 'invocations' | 'elapsed_ms'>,
): string {
  if (needed === null)
    return nullArm !== undefined && (nullArm.low > 1 || (nullArm.high ?? Infinity) < 1)
      ? 'The baseline differs from itself by as much, so more invocations would not help: measure on an idle machine.'
      : 'A verdict would take an impractical number of invocations.';
  const seconds = Math.ceil((needed / invocations) * (elapsed_ms / 1000));
  return `About ${needed} invocations would give a verdict: --invocations ${needed} --budget ${Math.max(1, seconds)}.`;
}

/** Formats a verdict on a time or another cost with its direction: `slower`, `equal ±5 %`, `cannot tell`. */
export function formatVerdict({
  verdict,
  ratio,
  margin,
}: Pick<JudgedPair, 'verdict' | 'ratio' | 'margin'>): string {
  switch (verdict) {
    case 'different':
      return ratio > 1 ? 'slower' : 'faster';
    case 'equivalent':
      return `equal ${formatMargin({ margin })}`;
    case 'cannot tell':
      return 'cannot tell';
  }
}

/** Formats a margin: `±5 %`. */
export function formatMargin({ margin }: Pick<JudgedPair, 'margin'>): string {
  return `±${Number((100 * margin).toFixed(2))} %`;
}

function formatRatio(time: JudgedPair): string {
  return `${formatDecimals(time.ratio, 2)} times, ${formatInterval(time)}`;
}

/** Formats an interval: `1.02–1.19`. */
export function formatInterval({ low, high }: Pick<JudgedPair, 'low' | 'high'>): string {
  return high === null || !Number.isFinite(high)
    ? 'too few invocations'
    : `${formatDecimals(low, 2)}–${formatDecimals(high, 2)}`;
}

/** Formats the smallest ratio that this many invocations could have shown, `1.12`; `–` if they could show none. */
export function formatDetectable({ detectable }: Pick<JudgedPair, 'detectable'>): string {
  if (detectable === null || !Number.isFinite(detectable)) return '–';
  return formatDecimals(detectable, detectable < 1.1 ? 3 : 2);
}

/** Joins names: `a`, `a and b`, `a, b and c`. */
function joinNames(names: readonly string[]): string {
  return names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
