/** A step of a trace, and whether it is a tool call. */
interface TraceStep {
  readonly text: string;
  readonly isToolCall: boolean;
}

/**
 * Lists the numbered steps of a trace. Lines of a text without numbers form a single step. Traces have a tool call as
 * `3. expert: calculator({"expression":"2+2"}) → 4`.
 */
export function listSteps(trace: string): TraceStep[] {
  return trace
    .split(/\n(?=\d+\. )/)
    .map((text) => ({ text, isToolCall: /^\d+\. [^\n:]+: \w+\(\{/.test(text) }));
}
