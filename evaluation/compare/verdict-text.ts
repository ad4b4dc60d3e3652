import { decimals, oneLine } from '../terminal/table.ts';

/** What of a comparison a verdict is made of: figures as they were measured, or as they were read back. */
interface Judged {
  readonly adapter: string;
  readonly vs_baseline: {
    readonly time: {
      readonly ratio: number;
      readonly low: number;
      readonly high: number | null;
      readonly detectable: number | null;
      readonly verdict: string;
    };
  } | null;
}

/**
 * What the comparison comes to, for somebody who has to choose. A verdict is about a pair that it names: of two adapters it is said with
 * all its numbers, of more the names by their verdicts, and the numbers are in the table.
 */
export function sentenceOf(baseline: string, adapters: readonly Judged[]): string {
  const others = adapters.filter(({ vs_baseline }) => vs_baseline !== null);
  const [only] = others;
  if (only !== undefined && others.length === 1) return pairText(baseline, only);
  const named = (verdict: string) =>
    listed(
      others.filter(({ vs_baseline }) => vs_baseline?.time.verdict === verdict).map(({ adapter }) => adapter),
    );
  const called = (['slower', 'faster'] as const).flatMap((verdict) => {
    const { text, isOne } = named(verdict);
    return text === '' ? [] : [`${text} ${isOne ? 'is' : 'are'} ${verdict} than ${baseline}`];
  });
  const equal = named('no detectable difference').text;
  if (called.length === 0) return `No adapter differs detectably from ${baseline} in time.`;
  const rest = equal === '' ? [] : [`no difference was detected for ${equal}`];
  return `${[...called, ...rest].join('; ')}.`;
}

function pairText(baseline: string, { adapter, vs_baseline }: Judged): string {
  if (vs_baseline === null) return '';
  const { ratio, verdict, high } = vs_baseline.time;
  const name = oneLine(adapter, 40);
  const least = detectableText(vs_baseline.time);
  const shown =
    least === '–' ? 'so few rounds could show none' : `such rounds could show a factor of ${least}`;
  const how =
    high === null || !Number.isFinite(high)
      ? ', of too few rounds for an interval.'
      : ` (95 % interval ${intervalText(vs_baseline.time)}); ${shown}.`;
  const times = `${decimals(ratio, 2)} times its time${how}`;
  return verdict === 'no detectable difference'
    ? `No difference in time was detected between ${name} and ${baseline}: ${times}`
    : `${name} is ${verdict} than ${baseline}: ${times}`;
}

/** `1.02–1.19` */
export function intervalText({ low, high }: { readonly low: number; readonly high: number | null }): string {
  return high === null || !Number.isFinite(high)
    ? 'too few rounds'
    : `${decimals(low, 2)}–${decimals(high, 2)}`;
}

/** The smallest ratio that the rounds could have shown, `1.12`; `–` where they could show none. */
export function detectableText({ detectable }: { readonly detectable: number | null }): string {
  if (detectable === null || !Number.isFinite(detectable)) return '–';
  return decimals(detectable, detectable < 1.1 ? 3 : 2);
}

/** `a`, `a and b`, `a, b and c` */
function listed(names: readonly string[]): { text: string; isOne: boolean } {
  const short = names.map((name) => oneLine(name, 40));
  const text = short.length < 2 ? short.join() : `${short.slice(0, -1).join(', ')} and ${short.at(-1)}`;
  return { text, isOne: names.length === 1 };
}
