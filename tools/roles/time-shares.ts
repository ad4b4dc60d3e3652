/**
 * Of a question's time that is left when a role is asked, the part that it may take, by its tool. Who asked then still has time for those
 * that come after it, and in the end to say what there is. A role that is asked again has its part of what is left by then.
 */
export const TIME_SHARES: Readonly<Record<string, number>> = {
  plan: 0.3,
  research: 0.5,
  critique: 0.3,
  expert: 0.7,
  finalize: 0.9,
  answer: 0.8,
  execute: 0.8,
  diagnose: 0.5,
  abstract: 0.9,
};

/** For a role of the user's. */
const OTHERS = 0.9;

export const findTimeShare = (tool: string | undefined): number => TIME_SHARES[tool ?? ''] ?? OTHERS;
