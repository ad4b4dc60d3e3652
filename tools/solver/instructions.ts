const ROUNDING =
  /[,;]?\s*(?:\band\s+)?(?:please\s+)?\b(?:round(?:ed|ing)?|correct|accurate|precise)\b[^.?!]*?(?:decimal(?: place| digit)?s?|nearest\s+[\w.]+(?:\s+(?:number|metre|meter|\w+s)\b)?|whole number|integer|significant (?:figure|digit)s?)/gi;
const PLACES =
  /[,;]?\s*\b(?:to|with|using)\s+(?:\w+)\s+(?:decimal(?: place| digit)?s?|significant (?:figure|digit)s?)(?:\s+places?)?/gi;
const INSTRUCTION =
  /^(?:please\s+)?(?:give|answer|express|reply|provide|report|write|state|respond|just|leave|use|omit|do not|don't|only|no)\b/i;

/** The question without what it says about the form of its answer, whose numbers would be taken for its own. */
export function withoutInstructions(question: string): string {
  const text = question.replace(ROUNDING, '').replace(PLACES, '');
  const sentences = text.split(/(?<=[.!?])\s+/);
  const kept = sentences.filter(
    (sentence) => !INSTRUCTION.test(sentence) || /\d/.test(sentence) || sentence.endsWith('?'),
  );
  return kept.length > 0 ? kept.join(' ') : text;
}
