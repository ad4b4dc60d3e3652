const FILE =
  'file|document|report|letter|pdf|docx?|word document|presentation|slides?|slide deck|powerpoint|pptx|text|txt|notes?|diary|log|article|programme|program|leaflet|image|picture|photo|photograph|png|scan|screenshot|zip|archive|markdown|md|manual|memo|minutes|page|attachment|csv|json';

/** The question without what says only that there is a file: readers look for its other words in that file. */
export function withoutAttachment(question: string): string {
  const named = String.raw`(?:the |this |an? |my |our )?(?:attached|enclosed|accompanying|provided|uploaded)(?: (?:[\w-]+ ){0,3}?(?:${FILE})(?: file)?)?`;
  return question
    .replace(
      new RegExp(
        `\\s*,?\\s*(?:according to|as stated in|as described in|going by|judging by|based on|as per|in|from|per|using|see|inside)\\s+${named}\\b(?:\\s*,)?\\s*`,
        'gi',
      ),
      ' ',
    )
    .replace(
      new RegExp(
        `\\b(?:the )?(${FILE}) (?:(?:that )?(?:i have|i've|is|was) )?(?:attached|enclosed)\\b`,
        'gi',
      ),
      '$1',
    )
    .replace(/\battached\s+/gi, '')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^\p{Ll}/u, (letter) => letter.toUpperCase());
}

const ABOUT =
  /\b(?:mentions?|describes?|is about|are about|contains?|talks? about|refers? to|tells? of|speaks? of|reports? on|deals? with|shows?|lists?)\s+(?:an?|the|some)?\s*([^.,;]+)/i;

/**
 * The sentence that asks, alone: what comes before it says only what the file is. Where the question leans on that with a pronoun,
 * the pronoun gives way to what it stands for.
 */
export function sentenceThatAsks(question: string): string {
  const sentences = question.trim().split(/(?<=[.!?])\s+(?=["“'(]?\p{Lu})/u);
  const asking = sentences.findLast((sentence) => sentence.endsWith('?'));
  if (asking === undefined || sentences.length < 2) return withoutAttachment(question);
  const before = sentences.slice(0, sentences.indexOf(asking));
  const isAside = before.every((sentence) =>
    new RegExp(`\\b(?:attached|enclosed|${FILE})\\b`, 'i').test(sentence),
  );
  if (!isAside) return withoutAttachment(question);
  const pronoun = /\b(?:it|they|them|he|she|him)\b/i;
  if (!pronoun.test(asking)) return withoutAttachment(asking);
  const noun = before
    .map((sentence) => ABOUT.exec(sentence)?.[1]?.trim())
    .findLast((found) => found !== undefined);
  return noun === undefined
    ? withoutAttachment(question)
    : withoutAttachment(asking.replace(pronoun, `the ${noun}`));
}

/** What stands in quotation marks, in order. */
export function quotedTexts(text: string): string[] {
  const quoted = text.matchAll(
    /"([^"]+)"|“([^”]+)”|«([^»]+)»|(?<![\p{L}\p{N}])['‘]((?:[^'’]|(?<=\p{L})['’](?=\p{L}))+)['’](?!\p{L})/gu,
  );
  return [...quoted]
    .map((match) => (match[1] ?? match[2] ?? match[3] ?? match[4] ?? '').trim())
    .filter((part) => part !== '');
}
