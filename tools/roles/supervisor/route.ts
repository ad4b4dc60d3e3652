import type { Tool } from '@gaia-mesh/core/contracts/tool.ts';
import * as z from 'zod';
import { findCalculation } from '../../engines/embedded/worded-arithmetic.ts';
import { answeredSchema, conclude } from '../answer/answered.ts';
import { createEntryTool } from '../role-tool.ts';
import type { RoleWork } from '../role-work.ts';
import { cutText } from '../trace.ts';
import { formatPrior, type priorSchema, type Specialty } from './specialist.ts';

const YOUTUBE =
  /(?<![\w.-])(?:https?:\/\/)?(?:(?:www|m|music)\.)?(?:youtube(?:-nocookie)?\.com|youtu\.be)\//i;

/**
 * Returns the specialist for a question if rules decide it (SV-07): (1) the file specialist if it has a marker, whatever else it says;
 * (2) the web specialist for a YouTube link; (3) undefined if its type has to decide.
 */
export function decideRoute(question: string, hasMarker: boolean): Specialty | undefined {
  if (hasMarker) return 'file';
  return YOUTUBE.test(question) ? 'web' : undefined;
}

/**
 * Formats the marker that follows a question with a file (SV-05). Only the marker counts: a file's name in the question's own words is
 * plain text (SV-06), and so are the marker's brackets.
 */
function formatContextMarker(file: string, taskId: string, outline: string | undefined): string {
  const what = outline === undefined ? '' : ` It is this: ${outline}`;
  return `[IMPORTANT CONTEXT: a file belongs to this question: "${file}" (task id ${taskId}). Read it with a file tool.${what}]`;
}

/** Maximum characters of an earlier specialist's findings when the next specialist is chosen. */
const MAX_PRIOR_CHARACTERS = 8_000;

const typeSchema = z.object({ type: z.enum(['web', 'code', 'math']) });

/** The supervisor: it has no tools and only decides which specialist works on a question (SV-04). */
export const route: Tool = createEntryTool({
  name: 'route',
  description: 'sends a question to the web, code, file or math specialist, and relays the answer',
  async run({ question, file, outline, taskId }, work) {
    const prior: z.infer<typeof priorSchema>[] = [];
    const way: Specialty[] = [];
    let fileReason: string | undefined;
    let withFile = file === undefined ? {} : { marker: formatContextMarker(file, taskId, outline), file };
    for (;;) {
      const next =
        decideRoute(question, 'marker' in withFile) ?? (await classifyQuestion(question, prior, work));
      work.note(`sends the question to the ${next} specialist`);
      way.push(next);
      const answered = await work.askRole(next, { question, ...withFile, prior }, answeredSchema);
      const isFinished = next !== 'file' || answered.ended === 'answer' || answered.ended === 'limit';
      if (isFinished) {
        // If no specialist had an answer, the specialist that read the file gives the reason.
        const text = answered.ended === 'gave_up' ? (fileReason ?? answered.text) : answered.text;
        // The answer stays unchanged apart from its wrapping (SV-17, SV-18).
        return { ...conclude({ ...answered, text }), details: { route: way } };
      }
      // The marker is used up: the file's content is known now (C-25).
      withFile = {};
      if (answered.ended === 'gave_up') fileReason = answered.text;
      if (answered.ended === 'handed_on') prior.push({ by: next, text: answered.text });
    }
  },
});

/** Classifies a question by its wording and, if it was handed on, by what was found and what is missing. */
async function classifyQuestion(
  question: string,
  prior: readonly z.infer<typeof priorSchema>[],
  work: RoleWork,
): Promise<Specialty> {
  const known = prior.map(({ by, text }) => ({ by, text: cutText(text, MAX_PRIOR_CHARACTERS) }));
  const { type } = await work.perform({
    input: { question },
    // Only a model can tell from the wording; without one it counts as a question about facts, unless it is a calculation.
    embedded: (): z.infer<typeof typeSchema> => ({
      type: findCalculation(question) === undefined ? 'web' : 'math',
    }),
    prompt: 'route',
    variables: () => ({ question, tools: listSpecialistTools(work), prior: formatPrior(known) }),
    reply: typeSchema,
  });
  return type;
}

/** Lists the specialists of the team with their tools. */
function listSpecialistTools({ context }: RoleWork): string {
  return context.partners
    .filter(({ id }) => id !== 'file')
    .map(({ id, tools = [] }) => `- ${id}: ${tools.join(', ') || 'no tools'}`)
    .join('\n');
}
