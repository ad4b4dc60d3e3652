import * as z from 'zod';
import { placeMessage } from './errors.ts';
import { WARNING_LIMITS } from './limits.ts';
import type { JsonObject } from './packet.ts';

/**
 * The rule for values that other software sends: a part that cannot be read is dropped, and the rest is kept. A
 * {@link Warning} names what was lost, where, and why. The run prints every warning at its end and shows it in
 * `metrics.json` and on its page.
 */

/** File in an agent's workspace with one line per {@link Warning}, with the task's id. */
export const WARNINGS_FILE = 'warnings.log';

const warningSchema = z.strictObject({
  lost: z
    .enum(['server', 'member', 'tool', 'reply', 'part', 'line', 'question', 'file'])
    .describe('what was lost: the whole of it, or a part of a reply, a list or a file'),
  where: z.string().describe('what it belonged to, or where it stood'),
  why: z.string().describe('why it was lost, and what was done instead'),
});
export type Warning = Readonly<z.infer<typeof warningSchema>>;

export const runWarningSchema = warningSchema.extend({
  agent: z.string().nullable().describe('id of the agent that noticed it; null for the hub'),
  task_id: z.string().optional().describe('the first task in which it was noticed'),
  times: z.int().positive().describe('how often it was noticed'),
});
export type RunWarning = Readonly<z.infer<typeof runWarningSchema>>;

/** Notes a warning in the record of an agent, from which the run collects it. */
export function recordWarning(
  target: { record(fileName: string, entry: JsonObject): void },
  taskId: string,
  warning: Warning,
): void {
  target.record(WARNINGS_FILE, { task_id: taskId, ...boundWarning(warning) });
}

/** Formats a warning as one line. */
export function formatWarning({ agent, lost, where, why, times }: RunWarning): string {
  const at = [agent, where].filter((part) => part !== null && part !== '').join(', ');
  const often = times === 1 ? '' : ` (${times} times)`;
  return `${lost} lost${often}: ${placeMessage(at, why)}`;
}

/** Cuts the texts of a warning, which servers choose, to a length that a person reads. */
export function boundWarning({ lost, where, why }: Warning): Warning {
  return { lost, where: cutText(where), why: cutText(why) };
}

function cutText(text: string): string {
  const whole = text.toWellFormed();
  return whole.length <= WARNING_LIMITS.characters
    ? whole
    : `${whole.slice(0, WARNING_LIMITS.characters).toWellFormed()}…`;
}
