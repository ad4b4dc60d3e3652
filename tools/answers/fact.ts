import * as z from 'zod';

const textOrNone = z.preprocess((given) => given ?? '', z.string());

/** A fact with where it is from (REQ-047). `found: false` says that it was looked for in vain: nothing is invented (REQ-050). */
export const factSchema = z.object({
  fact: z.string().min(1),
  source: textOrNone,
  // That goes without saying.
  found: z.preprocess((given) => given ?? true, z.boolean()),
  /** The reason for this fact where sources say different things; empty where they do not (REQ-048). */
  conflict: textOrNone,
});

export type Fact = z.infer<typeof factSchema>;

/** What is asked of a report of facts. Prompts have it as {{report_format}}. */
export const REPORT_FORMAT = 'The report is JSON only: {"facts": [{"fact": "…", "source": "…"}]}';

/** What stands before a fact that was looked for in vain. */
export const NOT_FOUND = 'NOT FOUND: ';

/** Facts as prompts and traces have them, a line each; empty without any. */
export function formatFacts(facts: readonly Fact[]): string {
  return facts.map(formatFact).join('\n');
}

function formatFact({ fact, source, found, conflict }: Fact): string {
  const where = source === '' ? '' : ` [${source}]`;
  const why = conflict === '' ? '' : ` (sources differ: ${conflict})`;
  return `- ${found ? '' : NOT_FOUND}${fact}${where}${why}`;
}
