/** Splits a trace into its numbered steps. Lines of a text without numbers form a single step. */
export function splitSteps(trace: string): string[] {
  return trace.split(/\n(?=\d+\. )/);
}

/** Tells if a step is a tool call, written in traces as `3. expert: calculator({"expression":"2+2"}) → 4`. */
export function isToolStep(step: string): boolean {
  return /^\d+\. [^\n:]+: \w+\(\{/.test(step);
}
