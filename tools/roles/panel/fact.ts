import * as z from 'zod';

/** A fact with where it is from (REQ-047). `found: false` says that it was looked for in vain: nothing is invented (REQ-050). */
export const factSchema = z.object({
  fact: z.string().min(1),
  source: z.string(),
  found: z.boolean(),
  /** The reason for this fact where sources say different things; empty where they do not (REQ-048). */
  conflict: z.preprocess((given) => given ?? '', z.string()),
});

export type Fact = z.infer<typeof factSchema>;

/** Facts as prompts and traces have them, a line each. */
export function factLines(facts: readonly Fact[]): string {
  return facts.length === 0 ? '(nothing)' : facts.map(lineOf).join('\n');
}

function lineOf({ fact, source, found, conflict }: Fact): string {
  const where = source === '' ? '' : ` [${source}]`;
  const why = conflict === '' ? '' : ` (sources differ: ${conflict})`;
  return `- ${found ? '' : 'NOT FOUND: '}${fact}${where}${why}`;
}
