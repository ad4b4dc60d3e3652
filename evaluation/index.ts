/** The public names of the evaluation: scorers, results of tasks, and agents started by their specs. */
export type { Attempt } from './attempts/attempt.ts';
export { findScorer, type Scorer, scorerNames } from './scorers/scorer.ts';
export { startAgent } from './teams/start-agent.ts';
