import type { Tool } from '@gaia-mesh/core/contracts/tool.ts';
import * as z from 'zod';
import type { Answered } from '../answer/answered.ts';
import { converse } from '../conversation/conversation.ts';
import { createRoleTool } from '../role-tool.ts';

const SPECIALTIES = ['web', 'code', 'file', 'math'] as const;
export type Specialty = (typeof SPECIALTIES)[number];

/** The findings of an earlier specialist. */
export const priorSchema = z.object({ by: z.enum(SPECIALTIES), text: z.string() });

/** Formats the findings of earlier specialists for prompts; empty without any. */
export function formatPrior(prior: readonly z.infer<typeof priorSchema>[]): string {
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
