/** Seconds in a unit, with all its English names and symbols. Months and years have no fixed length. */
const UNITS: readonly (readonly [seconds: number, names: string])[] = [
  [0.001, 'ms msec millisecond milliseconds'],
  [1, 's sec secs second seconds "'],
  [60, "min mins minute minutes m '"],
  [3600, 'h hr hrs hour hours'],
  [86_400, 'd day days'],
  [604_800, 'w wk wks week weeks'],
];
const SECONDS = new Map(UNITS.flatMap(([seconds, names]) => names.split(' ').map((name) => [name, seconds])));
/** Units that are durations only beside others: `m` alone is metres, after hours it is minutes. */
const AMBIGUOUS = new Set(['m', "'", '"', 'd', 'w']);
const CLOCK = /^(-)?(?:(\d{1,4}):)?(\d{1,4}):(\d{2}(?:\.\d+)?)$/;
const PART = /(\d+(?:[.,]\d+)?)\s*(\p{L}+|['"])\s*,?\s*(?:and\s+)?/gu;
const ISO = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;
const MAX_CHARACTERS = 60;

/**
 * Parses a text that is a length of time and nothing else: `1:23:45`, `4:05` (whose first number `clock` names), `2 h 5
 * min`, `90 min`, `PT2H5M`. Returns its seconds; `isClock` is true for two numbers with a colon, which may be minutes or
 * hours.
 */
export function parseDuration(
  text: string,
  clock: 'minutes' | 'hours' = 'minutes',
): { readonly seconds: number; readonly isClock: boolean } | undefined {
  const plain = text.trim();
  if (plain.length > MAX_CHARACTERS || !/\d/.test(plain)) return undefined;
  const parts = CLOCK.exec(plain);
  if (parts !== null) {
    const [, sign, hours, middle, last] = parts;
    if (Number(last) >= 60 || (hours !== undefined && Number(middle) >= 60)) return undefined;
    const isTwo = hours === undefined;
    const length = Number(hours ?? 0) * 3600 + Number(middle) * 60 + Number(last);
    const factor = isTwo && clock === 'hours' ? 60 : 1;
    return { seconds: (sign === undefined ? 1 : -1) * length * factor, isClock: isTwo };
  }
  const iso = ISO.exec(plain);
  if (iso !== null) {
    const [d, h, m, s] = iso.slice(1).map((part) => Number(part ?? 0));
    return { seconds: (d ?? 0) * 86_400 + (h ?? 0) * 3600 + (m ?? 0) * 60 + (s ?? 0), isClock: false };
  }
  const found = [...plain.matchAll(PART)];
  if (found.length === 0 || found.map(([whole]) => whole).join('') !== plain) return undefined;
  let seconds = 0;
  let last = Number.POSITIVE_INFINITY;
  for (const [, number = '', name = ''] of found) {
    const unit = name.toLowerCase();
    const size = SECONDS.get(unit);
    if (size === undefined || size >= last || (found.length === 1 && AMBIGUOUS.has(unit))) return undefined;
    last = size;
    seconds += Number(number.replace(',', '.')) * size;
  }
  return { seconds, isClock: false };
}
