import type { Tool } from '../../core/contracts/tool.ts';
import { conclude } from './answer/answered.ts';
import { answering } from './answer/answering.ts';
import { promptText } from './conversation/conversation.ts';
import { entryTool } from './role-tool.ts';

/**
 * The baseline: one agent, the question, the document and the text of the attached file, and nobody to ask. What teams add is
 * measured against it.
 */
export const answerAlone: Tool = entryTool({
  name: 'answer_alone',
  description: 'answers a question from the document and the attached file’s text alone, with nobody to ask',
  async run({ question, document, file }, work) {
    const answered = await answering(
      work,
      {
        prompt: 'answer-alone',
        variables: () => ({ question, document: promptText(document), file: promptText(file) }),
      },
      { question, file, document },
    );
    return conclude(answered);
  },
});

/** One loop that calls tools until it has an answer (RA-20). */
export const reactStep: Tool = entryTool({
  name: 'react_step',
  description: 'reasons, calls tools and observes in a loop until it has an answer',
  async run({ question, file, document }, work) {
    const answered = await answering(
      work,
      {
        prompt: 'react-step',
        variables: () => ({ question, file: promptText(file), document: promptText(document) }),
      },
      { question, file, document },
    );
    return { ...conclude(answered), details: { ended: answered.ended } };
  },
});
