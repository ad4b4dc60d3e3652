import type { Tool } from '../../core/tool.ts';
import { answering } from './answering.ts';
import { conclude } from './conclude.ts';
import { promptText } from './conversation.ts';
import { entryTool } from './role-tool.ts';

/** One loop that calls tools until it has an answer (RA-20). */
export const reactStep: Tool = entryTool({
  name: 'react_step',
  description: 'reasons, calls tools and observes in a loop until it has an answer',
  async run({ question, file, document }, work) {
    const answered = await answering(work, {
      prompt: 'react-step',
      variables: () => ({ question, file: promptText(file), document: promptText(document) }),
      problem: { question, file, document },
    });
    return { ...conclude(question, answered), details: { ended: answered.ended } };
  },
});
