import * as z from 'zod';

/** A fact with its source (REQ-047). `found: false` marks a fact that was searched for without success: nothing is invented (REQ-050). */
export const factSchema = z.object({
  fact: z.string().min(1),
  source: z.string().default(''),
  // Models leave it out when the fact was found.
  found: z.boolean().default(true),
  /** The reason for choosing this fact if sources disagree; otherwise empty (REQ-048). */
  conflict: z.string().default(''),
});

export type Fact = z.infer<typeof factSchema>;

/** The format of a report of facts. Prompts contain it as {{report_format}}. */
export const REPORT_FORMAT =
  'End with a report, JSON only, for example: {"facts": [{"fact": "what you found", "source": "page, file or tool"}, {"fact": "what you did not find", "found": false}]}';

/** The prefix of a fact that was searched for without success. */
export const NOT_FOUND = 'NOT FOUND: ';

/** Formats facts for prompts and traces, one per line; empty without facts. */
export function formatFacts(facts: readonly Fact[]): string {
  return facts.map(formatFact).join('\n');
}

function formatFact({ fact, source, found, conflict }: Fact): string {
  const where = source === '' ? '' : ` [${source}]`;
  const why = conflict === '' ? '' : ` (sources differ: ${conflict})`;
  return `- ${found ? '' : NOT_FOUND}${fact}${where}${why}`;
}
