/** A trace's numbered steps; of another text its lines are one step. */
export function splitSteps(trace: string): string[] {
  return trace.split(/\n(?=\d+\. )/);
}

/** As traces write it: `3. expert: calculator({"expression":"2+2"}) → 4`. */
export function isToolStep(step: string): boolean {
  return /^\d+\. [^\n:]+: \w+\(\{/.test(step);
}
