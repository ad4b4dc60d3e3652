/** The team with which reports compare the others where it was asked: a single agent without partners. */
export const BASELINE = 'single';

/** Returns the team with which a report compares the others: {@link BASELINE}, or else the first. */
export function findBaseline(teams: readonly string[]): string {
  return teams.includes(BASELINE) ? BASELINE : (teams[0] ?? BASELINE);
}
