import { packageVersion } from '../../../config/package-root.ts';
import { machine } from '../results-page.ts';
import { verdictsOf } from './figures.ts';
import { unsureLoads } from './generator-limit.ts';
import { missingTargets, type RelayResults } from './run-rounds.ts';

/** Everything that was measured, as one value: the verdicts, and each sample that they were made of with its round. */
export function relayReport(results: RelayResults) {
  return {
    machine: machine(),
    version: packageVersion,
    rounds: results.rounds,
    targets: results.targets.map(({ name, about }) => ({ name, about })),
    missing: missingTargets(results),
    verdicts: verdictsOf(results),
    /** Loads in which the generator may have been the limit. */
    unsure: unsureLoads(results),
    wakes: results.wakes,
    outcomes: results.outcomes.map(({ cell, target, rounds, faults }) => ({
      cell: cell.name,
      kind: cell.kind,
      load: cell.load,
      target,
      samples: [...rounds].map(([round, sample]) => ({ round, ...sample })),
      faults,
    })),
  };
}
