import type { Tool } from '@gaia-mesh/core/contracts/tool.ts';
import * as z from 'zod';
import { attachedShape, formatAttached } from '../attached.ts';
import { cutPromptText } from '../conversation/conversation.ts';
import { createRoleTool } from '../role-tool.ts';
import { cutText } from '../trace.ts';

const critiqueInput = z.object({
  question: z.string(),
  ...attachedShape,
  /** The role that did the work: planner, researcher or expert. */
  role: z.string(),
  work: z.string(),
  /** The material of the work, besides the file; empty without any. */
  document: z.string(),
  facts: z.string(),
  /** The tool calls behind the work; empty if there were none. */
  steps: z.string(),
});

const remarks = z.array(z.string().max(2000)).max(20).default([]);

/** Marks from 0 to 10 on both scales (REQ-034 to REQ-036). */
const judgementSchema = z.object({
  quality: z.number().min(0).max(10),
  relevance: z.number().min(0).max(10),
  /** Parts of the question that the work leaves out (REQ-066). */
  missing: remarks,
  weaknesses: remarks,
  suggestions: remarks,
});

export const critiqueReply = judgementSchema.extend({ accepted: z.boolean() });

type Critique = z.infer<typeof critiqueReply>;

const DEFAULT_THRESHOLD = 6;
const thresholdsSchema = z.looseObject({
  thresholds: z
    .object({
      quality: z.number().min(0).max(10).default(DEFAULT_THRESHOLD),
      relevance: z.number().min(0).max(10).default(DEFAULT_THRESHOLD),
    })
    .prefault({}),
});

/** Maximum characters that a critic gets of the document and of the steps: enough to check a claim, not to repeat the work. */
const MAX_SHOWN_CHARACTERS = 12_000;

/**
 * Judges one piece of work and nothing else: each call is a fresh conversation with the question, that piece and its material
 * (REQ-038). Configuration (REQ-064), and not the model, says what is good enough.
 */
export const critique: Tool = createRoleTool({
  name: 'critique',
  description: 'judges the work of another role: quality, relevance, weaknesses, suggestions',
  input: critiqueInput,
  async run(input, work): Promise<Critique> {
    const { thresholds } = work.options(thresholdsSchema);
    const judged = await work.perform({
      input,
      embedded: () => judgePlainly(input),
      prompt: 'critique',
      variables: () => ({
        question: input.question,
        file: formatAttached(input),
        role: input.role,
        work: cutPromptText(input.work),
        document: cutText(input.document, MAX_SHOWN_CHARACTERS),
        facts: cutPromptText(input.facts),
        steps: cutText(input.steps, MAX_SHOWN_CHARACTERS),
      }),
      reply: judgementSchema,
    });
    const isGoodEnough = judged.quality >= thresholds.quality && judged.relevance >= thresholds.relevance;
    const accepted = isGoodEnough && judged.missing.length === 0;
    const said = listRemarks(judged).join(' ');
    work.result(
      `${accepted ? 'accepts' : 'rejects'} the ${input.role}’s work (${formatMarks(judged)})${said === '' ? '' : `: ${said}`}`,
    );
    return { ...judged, accepted };
  },
});

function formatMarks({ quality, relevance }: z.infer<typeof judgementSchema>): string {
  return `quality ${quality}, relevance ${relevance}`;
}

function listRemarks({ missing, weaknesses, suggestions }: z.infer<typeof judgementSchema>): string[] {
  return [...missing.map((part) => `not answered: ${part}`), ...weaknesses, ...suggestions];
}

/** Formats the feedback for a role whose work was rejected; the marks stand in for missing remarks. */
export function formatFeedback(critique: Critique): string {
  return [`rejected with ${formatMarks(critique)}`, ...listRemarks(critique)]
    .map((line) => `- ${line}`)
    .join('\n');
}

/** Judges without a model and without reading: only by whether there is any work. */
function judgePlainly({ work }: z.infer<typeof critiqueInput>): z.infer<typeof judgementSchema> {
  const isEmpty = work.trim() === '';
  return {
    quality: isEmpty ? 0 : 10,
    relevance: isEmpty ? 0 : 10,
    missing: [],
    weaknesses: isEmpty ? ['there is nothing'] : [],
    suggestions: isEmpty ? ['answer the question'] : [],
  };
}
