import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { MeshError } from '@gaia-mesh/core/contracts/errors.ts';
import { writeWhole } from '@gaia-mesh/core/system/files/whole-file.ts';
import { resolveUserPath } from '@gaia-mesh/core/system/user-paths.ts';
import { type ComparisonFile, readComparison } from '@gaia-mesh/evaluation/compare/comparison-file.ts';
import {
  formatChanges,
  formatJunit,
  formatSummary,
} from '@gaia-mesh/evaluation/compare/conditions/ci-reports.ts';
import {
  type ComparableFacts,
  checkComparable,
  createThresholdFigures,
  judgeChanges,
  toConditionName,
} from '@gaia-mesh/evaluation/compare/conditions/conditions.ts';
import type { demandShape } from '@gaia-mesh/evaluation/plan/options.ts';
import { evaluateThreshold, parseThreshold, SAVED } from '@gaia-mesh/evaluation/statistics/thresholds.ts';
import { formatJson, printError } from '@gaia-mesh/evaluation/terminal/print.ts';
import type * as z from 'zod';
import { EXIT } from '../command-line/exit-code.ts';

type DemandOptions = z.output<z.ZodObject<typeof demandShape>>;

/** Conditions of CI on a comparison; they are read and checked before it runs, since it takes minutes. */
interface Demands {
  readonly thresholds: readonly ReturnType<typeof parseThreshold>[];
  readonly saved: ComparisonFile | undefined;
}

/**
 * Parses the conditions and the baseline, and returns the function that settles the finished comparison.
 *
 * @param arms the arms that will be compared
 * @param facts what is known of the comparison before it runs, by which a saved one is accepted or refused
 * @throws MeshError `usage` for an invalid condition or one on an arm that is not compared, `config` for an invalid baseline
 */
export function parseDemands(
  options: DemandOptions,
  arms: readonly { readonly name: string }[],
  facts: ComparableFacts,
): (now: ComparisonFile) => void {
  const { failIf = [], baseline } = options;
  const names = arms.map(toConditionName);
  const thresholds = failIf.map((text) => parseThreshold(text, names, facts.kind));
  const needsSaved = thresholds.find(({ times }) => times === SAVED);
  if (needsSaved !== undefined && baseline === undefined) {
    throw new MeshError('usage', `--fail-if '${needsSaved.text}': "${SAVED}" needs --baseline <file>`);
  }
  const saved = baseline === undefined ? undefined : readComparison(resolveUserPath(baseline));
  if (saved !== undefined) checkComparable(saved, facts, baseline ?? '');
  return (now) => settleDemands(now, { thresholds, saved }, options);
}

/**
 * Checks the conditions, prints changes and writes the reports. Sets exit code 1 when a condition fails, so that CI can
 * enforce a budget.
 */
function settleDemands(now: ComparisonFile, { thresholds, saved }: Demands, options: DemandOptions): void {
  const { junit, summary, saveBaseline, baseline = '' } = options;
  if (saved !== undefined) checkComparable(saved, now, baseline);
  const changes = saved === undefined ? [] : judgeChanges(saved, now);
  if (changes.length > 0) {
    const machine = now.kind === 'teams' ? '' : ' (times include changes of the machine since then)';
    printError(`Changes from the saved baseline${machine}:\n${formatChanges(now, changes)}`);
  }
  const figures = createThresholdFigures(now, saved);
  const conditions = thresholds.map((threshold) => evaluateThreshold(threshold, figures));
  for (const { text, outcome, found } of conditions) {
    printError(`${outcome === 'failed' ? 'FAILED' : outcome}: ${text} (${found})`);
    if (outcome === 'failed') process.exitCode = EXIT.failed;
  }
  if (junit !== undefined) writeOutput(junit, formatJunit(now, conditions));
  if (summary !== undefined) writeOutput(summary, formatSummary(now, { conditions, changes }));
  // The baseline is saved even when a condition failed.
  if (saveBaseline !== undefined) writeOutput(saveBaseline, formatJson(now));
}

function writeOutput(file: string, text: string): void {
  const target = resolveUserPath(file);
  mkdirSync(path.dirname(target), { recursive: true });
  writeWhole(target, text);
  printError(`written: ${target}`);
}
