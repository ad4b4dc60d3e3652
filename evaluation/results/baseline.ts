/** The team with which every report compares the others: a single agent without partners. */
export const BASELINE = 'single';
