import type { Random } from '../../../core/system/random.ts';

/** Bounds of the sizes in which MessagePack and CBOR write whole numbers: a stand-in has the same size there, too. */
const BOUNDS = [0, 24, 128, 256, 65_536, 2 ** 32, 2 ** 53] as const;
/** Tries to draw a number that is written in as many characters. */
const ATTEMPTS = 200;

/** Another number that JSON writes in as many characters; a whole one stays whole. */
export function standInNumber(value: number, random: Random): number {
  const text = JSON.stringify(value);
  if (Number.isSafeInteger(value) && /^-?\d+$/.test(text)) return wholeNumber(value, text, random);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const drawn = Number(text.replaceAll(/\d/g, () => String(random.integer(10))));
    if (
      Number.isFinite(drawn) &&
      !Number.isSafeInteger(drawn) &&
      JSON.stringify(drawn).length === text.length
    )
      return drawn;
  }
  // The exponent says how large it is, and has to stay where another would be longer.
  const [mantissa = '', exponent] = text.split('e');
  const plain = mantissa.replaceAll(/[1-9]/g, '1');
  const kept = Number(exponent === undefined ? plain : `${plain}e${exponent}`);
  return JSON.stringify(kept).length === text.length ? kept : value;
}

function wholeNumber(value: number, text: string, random: Random): number {
  const size = Math.abs(value);
  const digits = text.replace('-', '').length;
  const bound = BOUNDS.findLastIndex((least) => size >= least);
  const low = Math.max(digits === 1 ? 0 : 10 ** (digits - 1), BOUNDS[bound] ?? 0);
  const high = Math.min(10 ** digits - 1, (BOUNDS[bound + 1] ?? 2 ** 53) - 1);
  const drawn = low + Math.floor(random.uniform() * (high - low + 1));
  // -0 is written as 0.
  return text.startsWith('-') ? -Math.max(1, drawn) : drawn;
}
