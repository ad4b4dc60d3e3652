/**
 * What stands behind a question that has a file (SV-05). It alone says so: a file's name in the question's own words is only
 * text (SV-06), so the marker's brackets in a question are taken for what they are.
 */
export function contextMarker(file: string, taskId: string): string {
  return `[IMPORTANT CONTEXT: a file belongs to this question: "${file}" (task id ${taskId}). Read it with a file tool.]`;
}
