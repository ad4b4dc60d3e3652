/** The team that every report sets the others against: one agent, nobody to ask. */
export const BASELINE = 'single';
