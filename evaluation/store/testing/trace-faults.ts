import type { Attempt } from '@gaia-mesh/tools/roles/memory/attempt.ts';

/**
 * Returns the reasons why the record of an attempt is not a complete trace; empty if it is. It must show the PM's plan, main's
 * work, and where the chain broke (OV-37). Without a true answer it is unknown if the chain broke.
 */
export function traceFaults(attempt: Attempt): string[] {
  const faults: string[] = [];
  if (attempt.pm_plan === null || Object.keys(attempt.pm_plan).length === 0) {
    faults.push('what did the PM plan: pm_plan is empty');
  }
  if (attempt.trace.length === 0) {
    faults.push('what did main do: trace is empty');
  } else if (attempt.trace.length < attempt.tool_calls.length) {
    faults.push(
      `what did main do: trace has ${attempt.trace.length} steps for ${attempt.tool_calls.length} tool calls`,
    );
  }
  if (attempt.correct === false && (attempt.overseer_diagnosis ?? '').trim() === '') {
    faults.push('where did the chain break: overseer_diagnosis is empty');
  }
  return faults;
}
