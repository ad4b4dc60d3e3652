import type { Tool } from '@gaia-mesh/core/contracts/tool.ts';
import * as z from 'zod';
import { findCalculation } from '../../engines/embedded/worded-arithmetic.ts';
import { type Answered, answeredSchema, conclude } from '../answer/answered.ts';
import { converse } from '../conversation/conversation.ts';
import { createEntryTool, createRoleTool } from '../role-tool.ts';
import type { RoleWork } from '../role-work.ts';
import { cutText } from '../trace.ts';

const SPECIALTIES = ['web', 'code', 'file', 'math'] as const;
type Specialty = (typeof SPECIALTIES)[number];

/** The findings of an earlier specialist. */
const priorSchema = z.object({ by: z.enum(SPECIALTIES), text: z.string() });

/** Formats the findings of earlier specialists for prompts; empty without any. */
function formatPrior(prior: readonly z.infer<typeof priorSchema>[]): string {
  return prior.map(({ by, text }) => `${by}: ${text}`).join('\n\n');
}

/** Everything that is known about a question (SV-09). */
const specialistInput = z.object({
  question: z.string(),
  marker: z.string().exactOptional(),
  file: z.string().exactOptional(),
  prior: z.array(priorSchema),
});

const optionsSchema = z.looseObject({ specialty: z.enum(SPECIALTIES) });

/**
 * One of the supervisor's specialists (SV-04). The team file's options say which one it is; its tools are those that it may call.
 * The file specialist may hand on what it read instead of an answer (SV-08).
 */
export const specialist: Tool = createRoleTool({
  name: 'answer',
  description: 'answers a question with the tools of its specialty: web, code, file or math',
  input: specialistInput,
  by: (options) => optionsSchema.safeParse(options).data?.specialty ?? 'answer',
  async run({ question, marker, prior }, work) {
    const { specialty } = work.options(optionsSchema);
    const answered = await converse(
      work,
      `answer-${specialty}`,
      {
        question: marker === undefined ? question : `${question}\n\n${marker}`,
        prior: formatPrior(prior),
      },
      specialty === 'file' ? { isHandover } : {},
    );
    const isHandedOn = specialty === 'file' && hasFinished(answered) && isHandover(answered.text);
    return { ...answered, ended: isHandedOn ? 'handed_on' : answered.ended };
  },
});

function hasFinished({ ended }: Answered): boolean {
  return ended === 'answer' || ended === 'limit';
}

/**
 * Returns true if the file specialist asks for another specialist instead of answering (SV-08). Its last words decide: anything may stand in
 * its quotations from the file before them, even FINAL ANSWER or NEEDS MORE. Otherwise it has answered, with or without the prefix (SV-18).
 */
function isHandover(text: string): boolean {
  const asks = [...text.matchAll(/^\W*needs more\s*:/gim)].at(-1)?.index ?? -1;
  const answers = [...text.matchAll(/final answer\W*:/gi)].at(-1)?.index ?? -1;
  return asks > answers;
}

const YOUTUBE =
  /(?<![\w.-])(?:https?:\/\/)?(?:(?:www|m|music)\.)?(?:youtube(?:-nocookie)?\.com|youtu\.be)\//i;

/**
 * Returns the specialist for a question if rules decide it (SV-07): (1) the file specialist if it has a marker, whatever else it says;
 * (2) the web specialist for a YouTube link; (3) undefined if its type has to decide.
 */
function decideRoute(question: string, hasMarker: boolean): Specialty | undefined {
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
  async run({ question, attached, taskId }, work) {
    const prior: z.infer<typeof priorSchema>[] = [];
    const way: Specialty[] = [];
    let fileReason: string | undefined;
    const { file, outline } = attached;
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
