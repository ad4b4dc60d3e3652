import { stem } from '../../reader/stem.ts';

const TITLE = String.raw`(?:Mr|Mrs|Ms|Miss|Monsieur|Madame|Mademoiselle|Herr|Frau|Señor|Señora)\.?\s+`;
const NAME = String.raw`(?:${TITLE})?(\p{Lu}[\p{L}'’-]+(?:\s+(?:(?:van|von|de|della|di|la|le|of)\s+)*\p{Lu}[\p{L}'’.-]+){0,3})`;
/** Words that begin a sentence with a capital and name nobody. */
const NO_NAME =
  /^(?:The|A|An|He|She|It|They|We|In|On|At|Our|My|His|Her|Their|This|That|There|After|Before|When)\b/;

/**
 * Who tuned the piano is the tuner: the name that stands beside the noun of the verb, as in "Gaspard Thibault, the tuner" or "the
 * conductor is Beatrix Amory". The reader matches words by their stems, which a verb and its noun do not share.
 *
 * @returns the name, and the words it stands in; undefined where there is none, or more than one
 */
export function agentNamed(question: string, text: string): { name: string; evidence: string } | undefined {
  const verb = /^\s*who\s+(?:(?:was|is|has|had)\s+(?:it\s+(?:who|that)\s+)?)?(\p{L}{4,})\b/iu
    .exec(question)?.[1]
    ?.toLowerCase();
  if (verb === undefined) return undefined;
  const base = stem(verb).replace(/e$/, '');
  if (base.length < 3) return undefined;
  const noun = `${base}(?:er|or|ist|ant)`;
  const found = new Map<string, string>();
  for (const pattern of [
    new RegExp(`${NAME},\\s+(?:(?:the|an?|our|its|his|her|their)\\s+)?(?:\\p{Ll}+\\s+){0,2}${noun}\\b`, 'gu'),
    new RegExp(
      `\\b[Tt]he\\s+(?:\\p{Ll}+\\s+){0,2}${noun}(?:\\s+of\\s+[^.,;]{1,40})?(?:\\s+(?:is|was)\\s+|,\\s+|\\s+)${NAME}`,
      'gu',
    ),
    new RegExp(
      `\\b[${base.slice(0, 1).toUpperCase()}${base.slice(0, 1)}]${noun.slice(1)}\\s*:\\s*${NAME}`,
      'gu',
    ),
  ]) {
    for (const match of text.matchAll(pattern)) {
      const name = (match[1] ?? '').replace(/\.$/, '');
      if (name !== '' && !NO_NAME.test(name)) found.set(name, match[0]);
    }
  }
  const [first, second] = found;
  return first === undefined || second !== undefined ? undefined : { name: first[0], evidence: first[1] };
}
