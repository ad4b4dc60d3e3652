import type { Tool } from '@gaia-mesh/core/contracts/tool.ts';
import { conclude } from './answer/answered.ts';
import { formatAttached } from './attached.ts';
import { converse, cutPromptText } from './conversation/conversation.ts';
import { createEntryTool, type Problem } from './role-tool.ts';
import type { RoleWork } from './role-work.ts';

/** The baseline: one agent with the question, the document and the text of the attached file, and without partners. Teams are measured against it. */
export const answerAlone: Tool = createEntryTool({
  name: 'answer_alone',
  description: 'answers a question alone, from the document and the text of the attached file',
  async run(problem, work) {
    return conclude(await answerProblem(problem, work, 'answer-alone'));
  },
});

/** A single loop that calls tools until it has an answer (RA-20). */
export const reactStep: Tool = createEntryTool({
  name: 'react_step',
  description: 'reasons, calls tools and observes in a loop until it has an answer',
  async run(problem, work) {
    const answered = await answerProblem(problem, work, 'react-step');
    return { ...conclude(answered), details: { ended: answered.ended } };
  },
});

function answerProblem(problem: Problem, work: RoleWork, prompt: string) {
  const { question, document } = problem;
  return converse(work, prompt, {
    question,
    file: formatAttached(problem.attached),
    document: cutPromptText(document),
  });
}
