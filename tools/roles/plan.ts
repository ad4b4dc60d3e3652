import type { Tool } from '@gaia-mesh/core/contracts/tool.ts';
import * as z from 'zod';
import { describeContent, findReader } from '../files/reading/readers.ts';
import { buildToolDefinitions } from '../tool-definitions.ts';
import { attachedShape, formatAttached } from './attached.ts';
import { cutPromptText } from './conversation/conversation.ts';
import { createRoleTool } from './role-tool.ts';

/** Maximum steps and parts of a plan: a longer one does not plan a question but lists its words. */
const MAX_PARTS = 20;

const step = z.object({
  /** The thing to find out or compute. */
  task: z.string().min(1).max(2000),
  /** The name of a tool that may help; empty for none. */
  tool: z.string().max(100).default(''),
  /** True if it needs something from outside the question. */
  needs_information: z.boolean().default(false),
  /** Numbers, from 1, of the steps whose results it uses. */
  uses: z.array(z.int().positive()).max(MAX_PARTS).default([]),
});

/** A step uses only the results of earlier steps (REQ-021). */
const steps = z
  .array(step)
  .min(1)
  .max(MAX_PARTS)
  .superRefine((all, context) => {
    all.forEach(({ uses }, index) => {
      const later = uses.find((number) => number > index);
      if (later === undefined) return;
      context.addIssue({
        code: 'custom',
        path: [index, 'uses'],
        message: `step ${index + 1} uses step ${later}, which does not come before it`,
      });
    });
  });

/**
 * A plan: the parts of the question, the order of the work, and the method (OV-02, REQ-008, REQ-009, REQ-018 to REQ-021).
 * `alternatives` are other ways to the same answer, if there are any (REQ-010); `contradictions` are premises of the question
 * that cannot all be true (REQ-060).
 */
export const planSchema = z.object({
  question_type: z.string().min(1).max(200),
  sub_problems: z.array(z.string().min(1).max(2000)).min(1).max(MAX_PARTS),
  strategy: z.string().min(1).max(4000),
  steps,
  needs_information: z.boolean(),
  failure_modes: z.array(z.string().max(2000)).max(MAX_PARTS).default([]),
  alternatives: z.array(z.string().max(2000)).max(5).default([]),
  contradictions: z.array(z.string().max(2000)).max(5).default([]),
});

export type Plan = z.infer<typeof planSchema>;

/** A plan as models write it: what they leave out follows from the rest. */
const planReply = z.object({
  ...planSchema.shape,
  question_type: z.string().max(200).default(''),
  sub_problems: z.array(z.string().min(1).max(2000)).max(MAX_PARTS).default([]),
  strategy: z.string().max(4000).default(''),
  needs_information: z.boolean().nullable().default(null),
});

function completePlan(given: z.infer<typeof planReply>, { question, file }: z.infer<typeof planInput>): Plan {
  const { question_type, sub_problems, strategy, steps: planned, needs_information } = given;
  return {
    ...given,
    question_type: question_type.trim() || classifyQuestion(file),
    sub_problems: sub_problems.length > 0 ? sub_problems : splitQuestion(question),
    strategy:
      strategy.trim() ||
      planned
        .map(({ task }) => task)
        .join(', then ')
        .slice(0, 4000)
        .toWellFormed(),
    needs_information: needs_information ?? planned.some((one) => one.needs_information),
  };
}

const planInput = z.object({
  question: z.string(),
  ...attachedShape,
  /** The text of the file or the document. */
  document: z.string(),
  /** Names of the tools that the roles that carry out the plan have. */
  tools: z.array(z.string()),
  /** Foreign tools among them, as their servers and agents describe them. */
  offered: z.array(z.object({ name: z.string(), description: z.string() })).default([]),
  /** Hints from earlier attempts, one a line; they inform the plan and prescribe nothing (OV-17). */
  brief: z.string(),
  /** The previous plan and the critic's remarks on it; empty for the first plan. */
  last: z.string(),
  feedback: z.string(),
});

/** Plans without calling any tool (OV-03). */
export const plan: Tool = createRoleTool({
  name: 'plan',
  description: 'takes a question apart and plans how to answer it; has no tools',
  input: planInput,
  async run(input, work) {
    const tools = await listPlanTools(input);
    const given = await work.perform<z.infer<typeof planReply>>({
      input,
      embedded: () => planPlainly(input),
      prompt: 'plan',
      variables: () => ({
        question: input.question,
        file: formatAttached(input),
        document: cutPromptText(input.document),
        tools,
        brief: input.brief,
        last: input.last,
        feedback: input.feedback,
      }),
      reply: planReply,
    });
    const made = completePlan(given, input);
    const { strategy, alternatives, contradictions } = made;
    work.result(`${strategy} — ${made.steps.map(({ task }, i) => `(${i + 1}) ${task}`).join(' ')}`);
    if (alternatives.length > 0) work.result(`another way: ${alternatives.join('; or ')}`);
    if (contradictions.length > 0)
      work.result(`the question contradicts itself: ${contradictions.join('; ')}`);
    return made;
  },
});

/** Lists the tools one per line, as they are offered to the model that will call them. */
async function listPlanTools({ tools: names, offered, file }: z.infer<typeof planInput>): Promise<string> {
  const own = await buildToolDefinitions(
    names.map((tool) => ({ id: tool, tool })),
    file,
  );
  return [...own, ...offered].map(({ name, description }) => `- ${name}: ${description}`).join('\n');
}

/** Formats a plan for prompts; empty parts are left out. */
export function formatPlan(plan: Plan): string {
  const { strategy, sub_problems, steps: planned, failure_modes, alternatives, contradictions } = plan;
  const list = (title: string, items: readonly string[]) =>
    items.length === 0 ? [] : [`${title}: ${items.join('; ')}`];
  return [
    `Strategy: ${strategy}`,
    ...list('Parts of the question', sub_problems),
    ...planned.map((one, index) => `${index + 1}. ${formatStep(one)}`),
    ...list('To be avoided', failure_modes),
    ...list('Another way', alternatives),
    ...list('Contradictions in the question', contradictions),
  ].join('\n');
}

function formatStep({ task, tool, needs_information, uses }: Plan['steps'][number]): string {
  const remarks = [
    ...(tool === '' ? [] : [`with ${tool}`]),
    ...(needs_information ? ['needs information from outside'] : []),
    ...(uses.length === 0 ? [] : [`uses ${uses.join(', ')}`]),
  ];
  return remarks.length === 0 ? task : `${task} (${remarks.join('; ')})`;
}

/** Returns the type of a question, as far as it can be determined without a model: the content of its attached file. */
export function classifyQuestion(file: string | undefined): string {
  return file === undefined ? 'no-file' : describeContent(file);
}

function planPlainly({ question, file, document, brief }: z.infer<typeof planInput>): Plan {
  const needsInformation = file === undefined && document === '';
  return {
    question_type: classifyQuestion(file),
    sub_problems: splitQuestion(question),
    strategy: needsInformation
      ? 'look the facts up, then answer from them'
      : `read ${file ?? 'the document'} and take the answer from it`,
    steps: [
      {
        task: question.slice(0, 2000),
        tool: file === undefined ? '' : (findReader(file) ?? ''),
        needs_information: needsInformation,
        uses: [],
      },
    ],
    needs_information: needsInformation,
    // The failures of earlier attempts are passed to the role that carries out the plan.
    failure_modes: listHints(brief),
    alternatives: [],
    contradictions: [],
  };
}

/** Returns the advice of each hint. */
function listHints(brief: string): string[] {
  const advice = brief.split('\n').flatMap((line) => /^\s*advice: (.+)/.exec(line)?.[1] ?? []);
  return advice.map((text) => text.slice(0, 2000)).slice(0, MAX_PARTS);
}

/** Splits a question into the sentences that ask something; without any it is one part. */
function splitQuestion(question: string): string[] {
  const asks = question.split(/(?<=[.?!])\s+/).filter((sentence) => sentence.trim().endsWith('?'));
  return (asks.length > 0 ? asks : [question]).map((part) => part.slice(0, 2000)).slice(0, MAX_PARTS);
}
