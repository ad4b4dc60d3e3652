import type { Reading } from '../solution.ts';

const N = String.raw`(\d[\d,]*)`;
/** Larger bounds take Python longer than an answer may take. */
const MAX_BOUND = 5_000_000;
const MAX_EXPONENT = 20_000;

const PRIMES = [
  'def primes(limit):',
  '    sieve = bytearray([1]) * (limit + 1)',
  '    sieve[:2] = bytes(min(2, limit + 1))',
  '    for n in range(2, int(limit ** 0.5) + 1):',
  '        if sieve[n]:',
  '            sieve[n * n :: n] = bytes(len(range(n * n, limit + 1, n)))',
  '    return [n for n in range(limit + 1) if sieve[n]]',
  '',
].join('\n');

/** Questions about whole numbers, as programs: what needs more digits or more steps than a calculator has. */
const READERS: readonly (readonly [
  pattern: RegExp,
  program: (match: RegExpExecArray, text: string) => string | undefined,
])[] = [
  [
    /\b(how many|number of|sum of(?: all)?(?: the)?|add up(?: all)?(?: the)?|total of|largest|biggest|smallest|product of(?: all)?(?: the)?)\s+(?:of the )?primes?(?: numbers?)?\b(.*)/is,
    (match) => overPrimes(match[1] ?? '', match[2] ?? ''),
  ],
  [
    new RegExp(String.raw`\b(sum|product|average|mean)\b[^.?]*?\bfirst ${N} primes?\b`, 'i'),
    ([, fold, n]) =>
      bounded(
        n,
        100_000,
        (count) =>
          `import math\n${PRIMES}found = primes(max(20, ${count} * 20))[:${count}]\nprint(${foldOf(fold ?? '')})`,
      ),
  ],
  [
    new RegExp(String.raw`\b${N}(?:st|nd|rd|th) prime\b`, 'i'),
    ([, n]) => bounded(n, 300_000, (at) => `${PRIMES}print(primes(max(20, ${at} * 20))[${at} - 1])`),
  ],
  [
    new RegExp(
      String.raw`\b${N}(?:st|nd|rd|th) (?:term of the )?fibonacci(?: number| sequence)?\b|\bfibonacci\b.*?\b${N}(?:st|nd|rd|th)\b`,
      'i',
    ),
    ([, a, b]) => bounded(a ?? b, MAX_EXPONENT, fibonacci),
  ],
  [
    /\b(?:sum|add(?:ing)?(?: up)?|total)\b[^.?]*?\bdigits\b[^.?]*?\bof\s+(.+)/i,
    ([, subject]) => bigInteger(subject ?? '', (value) => `print(sum(map(int, str(${value}))))`),
  ],
  [
    /\bhow many (?:decimal )?digits\b[^.?]*?\b(?:in|has|have|does)\s+(.+)/i,
    ([, subject]) => bigInteger(subject ?? '', (value) => `print(len(str(${value})))`),
  ],
  [
    /\blast (\d{1,2})? ?digits? of\s+(.+)/i,
    ([, count, subject]) => bigInteger(subject ?? '', (value) => `print(str(${value})[-${count ?? 1}:])`),
  ],
  [
    /\b(?:how many|number of) (?:trailing )?zero(?:e?s)?\b[^.?]*?\bend\b[^.?]*?\bof\s+(.+)|\btrailing zeroe?s\b[^.?]*?\b(?:in|of|does)\s+(.+)/i,
    ([, a, b]) =>
      bigInteger(a ?? b ?? '', (value) => `text = str(${value})\nprint(len(text) - len(text.rstrip("0")))`),
  ],
  [
    new RegExp(
      String.raw`\b(how many|number of|sum of(?: all)?(?: the)?|list(?: all)?(?: the)?|what are(?: all)?(?: the)?) (?:positive |different )?(?:divisors|factors)\b[^.?\d]*${N}`,
      'i',
    ),
    ([, ask, n]) => bounded(n, 1e9, (value) => divisors(ask ?? '', value)),
  ],
  [
    new RegExp(String.raw`\b(largest|greatest|biggest|smallest) prime (?:factor|divisor)\b[^.?\d]*${N}`, 'i'),
    ([, which, n]) =>
      bounded(
        n,
        1e14,
        (value) => `${factors(value)}print(${/smallest/i.test(which ?? '') ? 'min' : 'max'}(found))`,
      ),
  ],
  [
    new RegExp(String.raw`\bprime (?:factors|factori[sz]ation)\b[^.?\d]*${N}`, 'i'),
    ([, n]) => bounded(n, 1e14, (value) => `${factors(value)}print(*found, sep=", ")`),
  ],
  [
    new RegExp(
      String.raw`\b(sum of|how many|number of|add up)[^.?]*?\bmultiples of ${N}(?: (or|and) ${N})?\b[^.?]*?\b(below|under|less than|smaller than|up to|between|from)\s+${N}(?: (?:and|to) ${N})?`,
      'i',
    ),
    multiples,
  ],
  [
    new RegExp(
      String.raw`\b(sum of|how many|number of|add up)[^.?]*?\b(?:integers|numbers)\b[^.?]*?\b(between|from|below|under|up to|less than)\s+${N}(?: (?:and|to) ${N})?[^.?]*?\b(?:divisible by|multiples of)\s+${N}(?: (or|and) ${N})?`,
      'i',
    ),
    ([, ask, where, a, b, x, join, y]) => overMultiples(ask ?? '', where ?? '', a, b, x, join, y),
  ],
  [
    new RegExp(
      String.raw`\b(?:sum|add(?:ing)?(?: up)?|total)\b[^.?]*?\b(even |odd )?(?:integers|(?:whole |natural )?numbers)\b[^.?]*?\b(?:from|between)\s+${N}\s+(?:to|and|through|up to)\s+${N}`,
      'i',
    ),
    ([, kind, a, b]) => sumOfRange(kind, a, b),
  ],
  [
    new RegExp(
      String.raw`\bsum of the first ${N} (even |odd )?(?:positive |natural |whole )?(?:integers|numbers)\b`,
      'i',
    ),
    ([, n, kind]) =>
      bounded(n, MAX_BOUND, (count) =>
        kind === undefined
          ? `print(sum(range(1, ${count} + 1)))`
          : `print(sum(range(${/odd/i.test(kind) ? 1 : 2}, 2 * ${count} + 1, 2)))`,
      ),
  ],
  [
    new RegExp(
      String.raw`\bsum of (?:the )?(squares|cubes) of (?:the )?(?:first ${N} |(?:integers|numbers) from 1 to ${N})`,
      'i',
    ),
    ([, power, a, b]) =>
      bounded(
        a ?? b,
        MAX_BOUND,
        (count) => `print(sum(n ** ${/squares/i.test(power ?? '') ? 2 : 3} for n in range(1, ${count} + 1)))`,
      ),
  ],
  [
    new RegExp(String.raw`\bis ${N} (?:a )?prime\b`, 'i'),
    ([, n]) => bounded(n, 1e12, (value) => `${factors(value)}print("Yes" if found == [${value}] else "No")`),
  ],
];

/** @param text the question with its numbers in figures */
export function readIntegers(text: string): Reading | undefined {
  for (const [pattern, program] of READERS) {
    const match = pattern.exec(text);
    const code = match === null ? undefined : program(match, text);
    if (code !== undefined) return { why: 'It is counted by a short program.', code };
  }
  return undefined;
}

function bounded(
  text: string | undefined,
  most: number,
  program: (value: number) => string,
): string | undefined {
  const value = Number((text ?? '').replaceAll(',', ''));
  return Number.isSafeInteger(value) && value > 0 && value <= most ? program(value) : undefined;
}

function overPrimes(ask: string, where: string): string | undefined {
  const range = rangeIn(where);
  if (range === undefined) return undefined;
  const [from, to] = range;
  return `import math\n${PRIMES}found = [n for n in primes(${to}) if n >= ${from}]\nprint(${foldOf(ask)})`;
}

function foldOf(ask: string): string {
  if (/how many|number/i.test(ask)) return 'len(found)';
  if (/largest|biggest/i.test(ask)) return 'max(found)';
  if (/smallest/i.test(ask)) return 'min(found)';
  if (/product/i.test(ask)) return 'math.prod(found)';
  return /average|mean/i.test(ask) ? 'sum(found) / len(found)' : 'sum(found)';
}

/** "below 500", "up to 100", "between 10 and 50", "greater than 90 and less than 200", "the first 20" has none. */
function rangeIn(text: string): [number, number] | undefined {
  const number = (digits: string | undefined) => Number((digits ?? '').replaceAll(',', ''));
  const both = new RegExp(String.raw`\b(?:between|from)\s+${N}\s+(?:and|to)\s+${N}`, 'i').exec(text);
  if (both !== null) return within(number(both[1]), number(both[2]));
  const above = new RegExp(
    String.raw`\b(?:greater|larger|more|bigger|higher) than\s+${N}|\b(?:above|over)\s+${N}`,
    'i',
  ).exec(text);
  const below = new RegExp(
    String.raw`\b(?:less|smaller|lower|fewer) than\s+${N}|\b(?:below|under)\s+${N}`,
    'i',
  ).exec(text);
  const upTo = new RegExp(
    String.raw`\b(?:up to|not exceeding|at most|no (?:larger|greater|more) than|until)\s+(?:and including\s+)?${N}`,
    'i',
  ).exec(text);
  const from = above === null ? 1 : number(above[1] ?? above[2]) + 1;
  if (below !== null) return within(from, number(below[1] ?? below[2]) - 1);
  return upTo === null ? undefined : within(from, number(upTo[1]));
}

function within(from: number, to: number): [number, number] | undefined {
  return from <= to && to <= MAX_BOUND ? [from, to] : undefined;
}

function fibonacci(at: number): string {
  return `a, b = 0, 1\nfor _ in range(${at}):\n    a, b = b, a + b\nprint(a)`;
}

/** `2 to the power of 100`, `2^100`, `100!`, `the factorial of 20`, or a plain number. */
function bigInteger(subject: string, program: (value: string) => string): string | undefined {
  const power = new RegExp(
    String.raw`^(?:the number |the )?${N}\s*(?:(?:raised )?to the power (?:of )?|to the |\^|\*\*)\s*${N}`,
    'i',
  ).exec(subject);
  if (power !== null) {
    return bounded(power[2], MAX_EXPONENT, (exponent) =>
      program(`${power[1]?.replaceAll(',', '')} ** ${exponent}`),
    );
  }
  const factorial = new RegExp(String.raw`^(?:the )?(?:factorial of ${N}|${N}\s*(?:!|factorial))`, 'i').exec(
    subject,
  );
  if (factorial !== null)
    return bounded(
      factorial[1] ?? factorial[2],
      5_000,
      (of) => `import math\n${program(`math.factorial(${of})`)}`,
    );
  const plain = new RegExp(String.raw`^(?:the (?:number|integer) )?${N}\s*[?.]?$`, 'i').exec(subject.trim());
  return plain === null ? undefined : program((plain[1] ?? '').replaceAll(',', ''));
}

function divisors(ask: string, value: number): string {
  const found = `found = sorted({d for n in range(1, int(${value} ** 0.5) + 1) if ${value} % n == 0 for d in (n, ${value} // n)})\n`;
  return (
    found +
    (/how many|number/i.test(ask)
      ? 'print(len(found))'
      : /sum/i.test(ask)
        ? 'print(sum(found))'
        : 'print(*found, sep=", ")')
  );
}

function factors(value: number): string {
  return `found, rest, n = [], ${value}, 2\nwhile n * n <= rest:\n    if rest % n == 0:\n        found.append(n)\n        rest //= n\n    else:\n        n += 1\nif rest > 1:\n    found.append(rest)\n`;
}

function multiples([, ask, x, join, y, where, a, b]: RegExpExecArray): string | undefined {
  return overMultiples(ask ?? '', where ?? '', a, b, x, join, y);
}

function overMultiples(
  ask: string,
  where: string,
  a?: string,
  b?: string,
  x?: string,
  join?: string,
  y?: string,
): string | undefined {
  const range = rangeIn(`${where} ${a}${b === undefined ? '' : ` and ${b}`}`);
  if (range === undefined || x === undefined) return undefined;
  const divides = (of: string) => `n % ${of.replaceAll(',', '')} == 0`;
  const test = y === undefined ? divides(x) : `${divides(x)} ${join?.toLowerCase()} ${divides(y)}`;
  const found = `found = [n for n in range(${range[0]}, ${range[1]} + 1) if ${test}]\n`;
  return found + (/how many|number/i.test(ask) ? 'print(len(found))' : 'print(sum(found))');
}

function sumOfRange(
  kind: string | undefined,
  a: string | undefined,
  b: string | undefined,
): string | undefined {
  return bounded(b, MAX_BOUND, (to) => {
    const test = kind === undefined ? '' : ` if n % 2 == ${/odd/i.test(kind) ? 1 : 0}`;
    return `print(sum(n for n in range(${a?.replaceAll(',', '')}, ${to} + 1)${test}))`;
  });
}
